"""`clarion outbox`: events that wait, are through, or were set aside (O6)."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from clarion.cli import running
from clarion.cli.printing import JsonOption, print_json, print_table, shown
from clarion.model.errors import Invalid
from clarion.outbox import operate
from clarion.store.database import Command

outbox = typer.Typer(help="Look at events, and handle those set aside (dead letters).", no_args_is_help=True)

Ids = Annotated[list[int] | None, typer.Argument(help="Numbers of events set aside.")]
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
        print(f"more: clarion outbox ls --before {events[-1].id}")


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
    chosen = _chosen(events, error, everything)
    _tell("retried", events, running.change(_now(lambda: operate.retry_events(**chosen))))


@outbox.command("drop")
def drop_events(events: Ids = None, *, error: ErrorText = None, everything: All = False) -> None:
    """Give events set aside up for good; they can be shown until they are pruned."""
    chosen = _chosen(events, error, everything)
    _tell("dropped", events, running.change(_now(lambda: operate.drop_events(**chosen))))


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


def _chosen(events: list[int] | None, error: str | None, everything: bool) -> dict[str, Any]:
    if sum((bool(events), error is not None, everything)) != 1:
        raise Invalid("say which events set aside: their numbers, --error TEXT, or --all")
    return {"events": events or None, "error": error}


def _tell(what: str, asked: list[int] | None, done: list[int]) -> None:
    print(f"events {what}: {', '.join(map(str, done)) or 'none'}")
    if left := sorted(set(asked or ()) - set(done)):
        print(f"not set aside, and left as they are: {', '.join(map(str, left))}")
        raise typer.Exit(1)
