"""`clarion outbox`: events that wait, are through, or were set aside (O6)."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from clarion.cli import hints, running
from clarion.cli.printing import JsonOption, print_json, print_table, shown
from clarion.engine import Engine
from clarion.model.errors import Invalid
from clarion.outbox import operate
from clarion.store.database import Command

outbox = typer.Typer(help="Look at events, and handle those set aside (dead letters).", no_args_is_help=True)

Ids = Annotated[list[int] | None, typer.Argument(help="Numbers of events.")]
ErrorText = Annotated[str | None, typer.Option("--error", help="Those whose error has this text.")]
All = Annotated[bool, typer.Option("--all", help="All that are set aside.")]


@outbox.command("ls")
def list_events(
    *,
    state: Annotated[str | None, typer.Option(help=f"One of {', '.join(operate.STATES)}.")] = None,
    limit: Annotated[int, typer.Option(help="How many, at most 1000.")] = 50,
    before: Annotated[int | None, typer.Option(help="Only those before this number: the next page.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List events, newest first."""
    events = running.change(_now(lambda: operate.list_events(state=state, before=before, limit=limit)))
    if as_json:
        print_json(events)
        return
    print_table(
        ("event", "type", "actor", "about", "state", "tries", "created", "error or outcome"),
        (
            (e.id, e.type, e.actor, e.post_key or e.thread_key or e.space, e.state.replace("_", " "), e.attempts or "",
             e.created_at, (e.last_error if e.state in {"waiting", "set_aside"} else e.outcome) or "")
            for e in events
        ),
    )  # fmt: skip
    if len(events) == limit:
        print(f"more: {hints.command('outbox', 'ls', state=state, limit=limit, before=events[-1].id)}")


@outbox.command("show")
def show_event(event: int, *, as_json: JsonOption = False) -> None:
    """Show one event whole."""
    found = running.change(_now(lambda: operate.show_event(event)))
    if as_json:
        print_json(found)
        return
    for name in found.__dataclass_fields__:
        if (value := getattr(found, name)) not in (None, "", {}):
            print(f"{name.replace('_', ' '):<13} {shown(value)}")


@outbox.command("retry")
def retry_events(events: Ids = None, *, error: ErrorText = None, everything: All = False) -> None:
    """Give events set aside a fresh start."""
    _choose_one(events, error, everything, how="their numbers, --error TEXT, or --all")
    done = running.change(_now(lambda: operate.retry_events(events=events or None, error=error)))
    _tell("retried", events, done, left="not set aside")


@outbox.command("drop")
def drop_events(
    events: Ids = None,
    *,
    error: ErrorText = None,
    everything: All = False,
    event_type: Annotated[
        str | None, typer.Option("--type", help="Those of this type that wait, unknown here.")
    ] = None,
    all_unknown: Annotated[
        bool, typer.Option("--all-unknown", help="All that wait whose type is unknown here.")
    ] = False,
) -> None:
    """Give events up for good: set aside, or waiting though nothing here knows their type.

    They can be shown until they are pruned.
    """
    _choose_one(
        events, error, everything, event_type, all_unknown,
        how="their numbers, --error TEXT, --all, --type TYPE, or --all-unknown",
    )  # fmt: skip

    def drop(consumer: str, known: list[str]) -> Command[list[int]]:
        if event_type in known:
            raise Invalid(
                f"{event_type} is known here: its events wait for a relay, and only those set aside are dropped"
            )
        dropped: list[int] = []
        if events or error is not None or everything:
            dropped += yield from operate.drop_events(events=events or None, error=error)
        if events or event_type is not None or all_unknown:
            dropped += yield from operate.drop_unknown_events(
                consumer, known, events=events or None, event_type=event_type
            )
        return sorted(dropped)

    async def ask(engine: Engine) -> Command[list[int]]:
        return drop(engine.notifier.name, sorted(engine.notifier.types()))

    _tell("dropped", events, running.change(ask), left="neither set aside nor of an unknown type")


@outbox.command("prune")
def prune_events(
    *, days: Annotated[int | None, typer.Option(min=1, help="Default: the setting retention_days.")] = None
) -> None:
    """Delete events that were settled long ago, in small batches."""
    found = running.settings()

    async def work() -> int:
        pruned = 0
        async with running.opened(found) as engine:
            while count := await engine.changes.run(operate.prune_events(days or found.retention_days)):
                pruned += count
        return pruned

    print(f"events pruned: {running.run(work)}, settled more than {days or found.retention_days} days ago")


def _now(command: Callable[[], Command[Any]]) -> Callable[[Any], Any]:
    async def made(_: object) -> Command[Any]:
        return command()

    return made


def _choose_one(*choices: list[int] | str | bool | None, how: str) -> None:
    if sum(choice not in (None, False, []) for choice in choices) != 1:
        raise Invalid(f"say which events: {how}")


def _tell(what: str, asked: list[int] | None, done: list[int], *, left: str) -> None:
    print(f"events {what}: {', '.join(map(str, done)) or 'none'}")
    if others := sorted(set(asked or ()) - set(done)):
        print(f"{left}, and left as they are: {', '.join(map(str, others))}")
        raise typer.Exit(1)
