"""Publishing: the event's row in the transaction of the change (O1)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clarion.model.errors import Invalid, TooLarge
from clarion.model.keys import Key
from clarion.store.database import Command
from clarion.store.queries import Statement

MAX_KEYS_BYTES = 8192
"""The largest `keys` of an event, as JSON (K2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to publish: its type, who did it, where, and the keys of what changed. Never content (O2)."""

    type: str
    keys: Mapping[str, Any] = field(default_factory=dict)
    actor: Key | None = None
    thread: str | None = None
    post: str | None = None
    space: Key | None = None
    available_at: datetime | None = None
    idempotency_key: str | None = None
    source: str = ""


def publish(event: NewEvent) -> Command[int]:
    """Write the event's row in the caller's transaction and return its id.

    Guarantee: rolled back with the transaction, committed with it; the same idempotency key twice is one event.
    Raises: `TooLarge` for keys over 8,192 bytes, `Invalid` for a `*.deleted` event that does not name its thread;
    the database's error for what it refuses. Cost: one statement.
    """
    rows = yield Statement("publish_event", _params(event), wakes_relays=True)
    return int(rows[0]["id"])


def publish_many(events: Sequence[NewEvent]) -> Command[list[int]]:
    """Write many events in one statement and return their ids in order. Raises: as `publish`.

    Not for events with an idempotency key or a time of their own.
    """
    if any(event.idempotency_key or event.available_at for event in events):
        raise Invalid("publish_many takes no idempotency_key and no available_at: publish such events one by one")
    columns = [_params(event) for event in events]
    rows = yield Statement(
        "publish_many",
        {
            "types": [c["type"] for c in columns],
            "keys": [c["keys"] for c in columns],
            "actors": [c["actor"] for c in columns],
            "threads": [c["thread"] for c in columns],
            "posts": [c["post"] for c in columns],
            "spaces": [c["space"] for c in columns],
        },
        wakes_relays=True,
    )
    return [int(row["id"]) for row in rows]


def notify(
    to: Iterable[Key],
    *,
    kind: str = "message",
    title: str,
    link: str = "",
    body: str = "",
    actor: Key | None = None,
    idempotency_key: str | None = None,
) -> Command[int]:
    """Address some people directly: a thread, a post and an event of its own. Returns the event's id.

    Transaction: the caller's. Raises: `Invalid` without people or title. Cost: one statement.
    """
    people = [str(person) for person in to]
    if not people:
        raise Invalid("notify needs at least one person in `to`")
    if not title:
        raise Invalid("notify needs a title")
    rows = yield Statement(
        "notify_people",
        {
            "to": people,
            "kind": kind,
            "title": title,
            "link": link,
            "body": body,
            "actor": None if actor is None else str(actor),
            "idempotency_key": idempotency_key,
        },
        wakes_relays=True,
    )
    return int(rows[0]["id"])


def _params(event: NewEvent) -> dict[str, Any]:
    keys = json.dumps(event.keys, default=str, separators=(",", ":"))
    if (size := len(keys.encode())) > MAX_KEYS_BYTES:
        raise TooLarge(
            f"the keys of {event.type} take {size} bytes, at most {MAX_KEYS_BYTES} are allowed:"
            " publish the keys of what changed, not its content"
        )
    if event.type.endswith(".deleted") and event.thread is None:
        raise Invalid(f"{event.type} must name its thread (thread=…): what is deleted is found by its key alone")
    return {
        "type": event.type,
        "keys": keys,
        "actor": None if event.actor is None else str(event.actor),
        "thread": event.thread,
        "post": event.post,
        "space": None if event.space is None else str(event.space),
        "available_at": event.available_at,
        "idempotency_key": event.idempotency_key,
        "source": event.source,
    }
