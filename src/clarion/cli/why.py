"""`clarion why`: why somebody hears of an event, or does not (W16)."""

from typing import Annotated, Final

import typer
from rich.markup import escape

from clarion.cli import running
from clarion.cli.naming import find_person
from clarion.cli.printing import JsonOption, console, print_json
from clarion.model.reasons import IN_WORDS, Reason
from clarion.model.rules import Why

_SIGNS: Final = {
    "passed": "[green]✓[/] passed     ",
    "stopped": "[red]✗[/] stopped    ",
    "not reached": "[dim]·[/] not reached",
}
_TOLD: Final = "[green]•[/] told before"
"""For who has heard, the rule that stops is no refusal: nobody is told twice."""

_NEWS: Final = "is_news"
"""The column of that rule."""


def why(
    event: Annotated[int, typer.Argument(help="The event's number, as `clarion outbox ls` and the logs show it.")],
    person: Annotated[str, typer.Argument(help="A handle, or the key of a person.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Say why a person heard of an event, or did not: what was recorded, and what the rules say now."""

    async def work() -> Why:
        async with running.opened(running.settings()) as engine:
            return await engine.why(event, await find_person(engine, person))

    found = running.run(work)
    if as_json:
        print_json(found)
    else:
        show_why(found, person)


def show_why(found: Why, person: str) -> None:
    """Print an answer for eyes."""
    screen = console()
    outcome = f", {found.outcome}" if found.outcome else ""
    screen.print(f"event {found.event}  {escape(found.type)}  {found.state.replace('_', ' ')}{escape(outcome)}\n")
    screen.print("[bold]recorded[/]")
    for said in found.recorded:
        screen.print(f"  {escape(said)}")
    screen.print("\n[bold]the rules now[/]")
    reasons = ", ".join(f"{reason} ({IN_WORDS[Reason(reason)]})" for reason in found.reasons)
    screen.print(f"  reason: {escape(reasons or 'none')}")
    for verdict in found.now:
        sign = _TOLD if verdict.verdict == "stopped" and verdict.column == _NEWS else _SIGNS[verdict.verdict]
        screen.print(f"  {sign} {verdict.rule:<4} {escape(verdict.words)}")
    screen.print(f"\n[bold]{escape(found.sentence)}[/]")
    if not found.now and not found.reasons:
        screen.print(f"[dim]No rule was reached: nothing made {escape(person)} a candidate.[/]")
