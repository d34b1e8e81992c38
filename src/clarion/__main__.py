"""`python -m clarion`: the command `clarion`."""

from clarion.cli import main

if __name__ == "__main__":
    main()
