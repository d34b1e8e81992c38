"""The command line: a thin door that parses, calls the rooms, and prints.

Kept here: whatever goes wrong is one sentence with the way out, on stderr, and an exit code of `exits`.
"""

from clarion.cli.app import main

__all__ = ["main"]
