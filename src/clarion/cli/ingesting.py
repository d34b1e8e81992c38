"""`clarion ingest`: what happened elsewhere, from files."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from clarion.cli import running
from clarion.ingest.github import Applied, Broken, Ignored, Outcome
from clarion.ingest.github import ingest as ingest_payload
from clarion.ingest.github_reading import MAX_PAYLOAD_BYTES

ingest = typer.Typer(help="Take in what happened elsewhere.", no_args_is_help=True)


@ingest.callback()
def begin() -> None:
    """Take in what happened elsewhere."""


@ingest.command()
def github(
    files: Annotated[list[Path], typer.Argument(help="Payloads of GitHub's webhooks, one a file, in their order.")],
) -> None:
    """Apply payloads of GitHub's webhooks: one line each, and exit code 1 if any was broken or foreign."""
    broken = running.run(lambda: _ingest(files))
    if broken:
        print(f"clarion: {broken} of {len(files)} files changed nothing, for the reasons above", file=sys.stderr)
        raise typer.Exit(1)


async def _ingest(files: list[Path]) -> int:
    broken = 0
    async with running.opened(running.settings()) as engine:
        with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
            for file in progress.track(files, description="applying"):
                try:
                    content = _read(file)
                except OSError as error:
                    outcome: Outcome = Broken(f"it cannot be read: {error.strerror or error}")
                else:
                    outcome = await ingest_payload(engine.changes, content, name=file.name)
                broken += isinstance(outcome, Broken)
                print(line(file, outcome))
    return broken


def _read(file: Path) -> bytes:
    """Return the bytes of a plain file, one more than any payload may have at most. Raises: `OSError`."""
    if not file.is_file():
        raise OSError("it is no file" if file.exists() else "there is no such file")
    with file.open("rb") as content:
        return content.read(MAX_PAYLOAD_BYTES + 1)


def line(file: os.PathLike[str], outcome: Outcome) -> str:
    """Return what became of a file, in one line."""
    match outcome:
        case Applied(what, events):
            told = f"  (event {', '.join(map(str, events))})" if events else ""
            return f"applied  {file}: {what}{told}"
        case Ignored(reason):
            return f"ignored  {file}: {reason}"
        case Broken(why):
            return f"broken   {file}: {' '.join(why.split())}"
