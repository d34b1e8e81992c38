"""Commands that we tell somebody to type: they work where they are typed, and keep what was given before."""

import shlex
import shutil
import sys
from pathlib import Path

from clarion.cli import running


def program() -> str:
    """Return how we are called here: `clarion` where the shell finds it, else as we were started; with `--demo`."""
    started = sys.argv[0]
    if shutil.which("clarion"):
        name = "clarion"
    elif Path(started).name == "clarion":
        name = shlex.quote(started)
    else:
        name = f"{shlex.quote(sys.executable)} -m clarion"
    return f"{name} --demo" if running.is_demo() else name


def command(*words: str, **options: object) -> str:
    """Return a command with its options, but for those that are None, quoted for the shell."""
    given = [str(part) for name, value in options.items() if value is not None for part in (f"--{name}", value)]
    return f"{program()} {shlex.join([*words, *given])}"
