"""The commands in one tree, and the program's one way out."""

import sys
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
from clarion.model.errors import ClarionError

app = typer.Typer(
    name="clarion",
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


@app.callback()
def begin(
    *,
    demo: Annotated[bool, typer.Option("--demo", help="Look at the demo's data instead of your own.")] = False,
) -> None:
    """Notifications inside your PostgreSQL transaction: who hears, why, exactly once."""
    if demo:
        running.use_demo()


def main() -> None:
    """Run the command line: the entry point of the program `clarion`."""
    try:
        configure_logs()
        app()
    except ClarionError as error:
        sys.exit(running.complain(error))
