"""Operating the outbox: what waits and what was set aside, seen and moved by hand (O6, O9).

Each of these is a command in the caller's transaction. Only events set aside can be retried or dropped, and
events dropped whose type nobody here knows: all else that waits is the relays'.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clarion.model.errors import Invalid, NotFound, TooLarge
from clarion.model.keys import BIGINT, Key
from clarion.store.database import Command
from clarion.store.queries import Statement, ask

STATES = ("waiting", "done", "skipped", "set_aside", "dropped")
MAX_LISTED = 1000
"""Events of one list (K2)."""
PRUNE_BATCH = 1000
"""Events that one transaction prunes, so that it is short (O9)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """An event of the outbox as it stands."""

    id: int
    type: str
    actor: Key | None
    thread_key: str | None
    post_key: str | None
    space: Key | None
    keys: Mapping[str, Any]
    state: str
    attempts: int
    last_error: str | None
    outcome: str | None
    created_at: datetime
    available_at: datetime
    settled_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown(Listed):
    """An event with what only its relay needs to know."""

    consumer: str
    alone: bool
    cursor: Key | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """How many events of a type wait or are set aside, and for how long the oldest of them."""

    type: str
    state: str
    count: int
    oldest_seconds: float


def list_events(*, state: str | None = None, before: int | None = None, limit: int = 50) -> Command[list[Listed]]:
    """Return events, newest first, of one state or of all, a page before an id.

    Raises: `Invalid` for an unknown state, `TooLarge` for more than 1,000.
    """
    if state is not None and state not in STATES:
        raise Invalid(f"{state[:40]!r} is no state of an event: one of {', '.join(STATES)}")
    if limit > MAX_LISTED:
        raise TooLarge(f"a list has at most {MAX_LISTED} events, not {limit}")
    if limit < 1:
        raise Invalid(f"a list has at least one event, not {limit}")
    rows = yield ask("list_events", state=state, before=before, limit=limit)
    return [Listed(**row) for row in rows]


def show_event(event: int) -> Command[Shown]:
    """Return one event. Raises: `NotFound`."""
    rows = (yield ask("get_event", event=event)) if event in BIGINT else []
    if not rows:
        raise NotFound(f"there is no event {event}: it was never published, was rolled back, or is pruned")
    return Shown(**rows[0])


def retry_events(*, events: Collection[int] | None = None, error: str | None = None) -> Command[list[int]]:
    """Give events set aside a fresh start: these ids, those whose error has this text, or all. Returns their ids."""
    rows = yield Statement("retry_events", {"events": _ids(events), "error": error}, wakes_relays=True)
    return sorted(int(row["id"]) for row in rows)


def drop_events(*, events: Collection[int] | None = None, error: str | None = None) -> Command[list[int]]:
    """Give events set aside up for good, chosen as in `retry_events`; they stay readable until pruned."""
    rows = yield ask("drop_events", events=_ids(events), error=error)
    return sorted(int(row["id"]) for row in rows)


def drop_unknown_events(
    consumer: str, types: Collection[str], *, events: Collection[int] | None = None, event_type: str | None = None
) -> Command[list[int]]:
    """Give up what waits of types that this consumer does not know: these ids, one type, or all. Returns their ids."""
    rows = yield ask(
        "drop_unknown_events", consumer=consumer, types=sorted(types), events=_ids(events), type=event_type
    )
    return sorted(int(row["id"]) for row in rows)


def prune_events(days: int) -> Command[int]:
    """Delete one batch of events settled more than so many days ago; returns how many. 0: there are no more."""
    rows = yield ask("prune_events", days=days, limit=PRUNE_BATCH)
    return int(rows[0]["count"])


def measure_outbox() -> Command[list[Depth]]:
    """Return what is due and waits, and what is set aside, by type."""
    rows = yield ask("measure_outbox")
    return [Depth(**row) for row in rows]


def find_unknown_types(consumer: str, types: Collection[str], *, limit: int = 10_000) -> Command[dict[str, int]]:
    """Return types among the oldest `limit` due events that this consumer does not know, and how many (O7)."""
    rows = yield ask("find_unknown_types", consumer=consumer, types=sorted(types), limit=limit)
    return {row["type"]: row["count"] for row in rows}


def _ids(events: Collection[int] | None) -> list[int] | None:
    return None if events is None else [event for event in events if event in BIGINT]
