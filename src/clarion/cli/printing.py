"""What commands print: tables for eyes, JSON for programs."""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]

NARROWEST = 140
"""Columns of a table that goes to a file or a pipe."""


def console() -> Console:
    """Return the console on stdout: colours on a terminal, plain and wide enough elsewhere."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=max(NARROWEST, found.width), no_color=True)


def print_json(value: Any) -> None:
    """Print one value as JSON."""
    print(json.dumps(_plain(value), indent=2, ensure_ascii=False, default=str))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "") -> None:
    """Print rows under their columns; nothing of a value is taken for markup."""
    table = Table(*columns, title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*(escape(shown(value)) for value in row))
    console().print(table)


def shown(value: Any) -> str:
    """Return a value as a table shows it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.strftime("%Y-%m-%dT%H:%M:%SZ")
        case _:
            return str(value)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, datetime) else value
