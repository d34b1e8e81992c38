"""The commands in one tree, and the program's one way out."""

import sys
from collections.abc import Sequence
from importlib.metadata import version
from itertools import dropwhile
from typing import Annotated

import typer

from clarion.cli import running
from clarion.cli.checking import checking
from clarion.cli.choosing import choosing
from clarion.cli.demo import demo
from clarion.cli.inbox import inbox
from clarion.cli.ingesting import ingest
from clarion.cli.outbox import outbox
from clarion.cli.people import key, people
from clarion.cli.serving import serving
from clarion.cli.why import why
from clarion.logs import configure_logs
from clarion.model.errors import ClarionError, Invalid

app = typer.Typer(
    name="clarion",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Notifications inside your PostgreSQL transaction: who hears, why, exactly once.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(serving)
app.add_typer(checking)
app.command()(demo)
app.add_typer(ingest, name="ingest")
app.command()(why)
app.add_typer(outbox, name="outbox")
app.add_typer(inbox, name="inbox")
app.add_typer(choosing)
app.add_typer(people, name="people")
app.add_typer(key, name="key")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"clarion {version('clarion')}")
        raise typer.Exit


@app.callback()
def begin(
    *,
    demo: Annotated[bool, typer.Option("--demo", help="Look at the demo's data instead of your own.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version, and end.")
    ] = False,
) -> None:
    """Notifications inside your PostgreSQL transaction: who hears, why, exactly once."""
    if demo:
        running.use_demo()


def main() -> None:
    """Run the command line: the entry point of the program `clarion`."""
    try:
        configure_logs()
        _check_place_of_demo(sys.argv[1:])
        app()
    except ClarionError as error:
        sys.exit(running.complain(error))


def _check_place_of_demo(words: Sequence[str]) -> None:
    if "--demo" in dropwhile(lambda word: word.startswith("-"), words):
        raise Invalid("`--demo` goes right after `clarion`: clarion --demo COMMAND …")
