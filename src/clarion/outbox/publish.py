"""Publishing: the event's row in the transaction of the change (O1).

Each of these is a command: `clarion.store.connect.run` runs it on a caller's connection, a `Session` on one of
ours. What is wrong with a call is found before anything is sent, so that the caller's transaction is as it was.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clarion.model.errors import Invalid
from clarion.model.keys import Key
from clarion.model.text import MAX_TEXT_BYTES
from clarion.outbox.checks import (
    MAX_KEY_CHARS,
    MAX_KEYS_BYTES,
    KeyTypes,
    check_content,
    check_instant,
    check_key,
    check_keys,
    check_optional,
    check_text,
    check_type,
)
from clarion.store.database import Command
from clarion.store.queries import Statement

__all__ = ["MAX_KEYS_BYTES", "KeyTypes", "NewEvent", "notify", "publish", "publish_many"]

MAX_MESSAGE_KEY_CHARS = 190
"""The longest idempotency key of `notify`, which stands with a prefix among the keys of threads."""

MAX_KIND_CHARS = 40
MAX_TITLE_CHARS = 1000
MAX_LINK_CHARS = 2000

_KIND = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to publish: its type, who did it, where, and the keys of what changed. Never content (O2).

    `thread` and `post` are the host's keys as text; a post, and every `*.deleted` event, names its thread.
    `available_at` is when it is due, at once by default (O10). `idempotency_key` is unique with its `source`
    as long as the event is kept. Limits: `clarion.outbox.checks`.
    """

    type: str
    keys: Mapping[str, Any] = field(default_factory=dict)
    actor: Key | None = None
    thread: str | None = None
    post: str | None = None
    space: Key | None = None
    available_at: datetime | None = None
    idempotency_key: str | None = None
    source: str = ""


def publish(event: NewEvent, types: KeyTypes | None = None) -> Command[int]:
    """Write the event's row in the caller's transaction and return its id.

    Guarantee: rolled back with the transaction, committed with it; the same idempotency key twice is one event,
    also when two transactions publish it at once (the second waits for the first). Raises: `TooLarge` for keys
    over 8,192 bytes, `Invalid` for what is not of its form or a `*.deleted` event that does not name its thread,
    both before anything is sent; `Conflict` for a used idempotency key with other content (`available_at` is
    none); `WrongKey` for an actor or space that is not of the host's type, before anything is sent if `types`
    are given. Cost: one statement.
    """
    rows = yield Statement("publish_event", _params(event, types), wakes_relays=True)
    return int(rows[0]["id"])


def publish_many(events: Sequence[NewEvent], types: KeyTypes | None = None) -> Command[list[int]]:
    """Write many events, all or none, and return their ids in order.

    Not for events with an idempotency key. Transaction: the caller's. Raises: as `publish`. Cost: one statement
    for any number, none for no event.
    """
    if any(event.idempotency_key is not None for event in events):
        raise Invalid("publish_many takes no idempotency_key: publish such events one by one")
    if not events:
        return []
    each = [_params(event, types) for event in events]
    for params in each:
        due = params["available_at"]
        params["available_at"] = due and due.isoformat()  # as text in an array, which every driver knows unasked
    columns = {name: [params[name] for params in each] for name in each[0] if name != "idempotency_key"}
    rows = yield Statement("publish_many", columns, wakes_relays=True)
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
    types: KeyTypes | None = None,
) -> Command[int]:
    """Address some people directly: a thread, a post and an event of its own. Returns the event's id.

    Transaction: the caller's. Guarantee: the same idempotency key twice is one message. Raises: `Invalid` without
    people or title, or for a kind that is no lower-case word; `TooLarge` for a title over 1,000 characters, a link
    over 2,000 or a body over 65,536 bytes; `Conflict` and `WrongKey` as `publish`. Cost: one statement.
    """
    if isinstance(to, str):
        raise Invalid(f"to must be a list of people, not the text {to[:40]!r}: write to=[…]")
    person, _ = types or (None, None)
    people = [check_key("person", key, person) for key in to]
    if not people or None in people:
        raise Invalid("notify needs at least one person in `to`, and no None")
    if len(kind) > MAX_KIND_CHARS or not _KIND.fullmatch(kind):
        raise Invalid(
            f"{kind[:100]!r} is no kind: write lower-case words with dots between, at most {MAX_KIND_CHARS} characters"
        )
    if not title:
        raise Invalid("notify needs a title")
    params = {
        "to": people,
        "kind": str.__str__(kind),
        "title": check_content("title", title, MAX_TITLE_CHARS),
        "link": check_content("link", link, MAX_LINK_CHARS),
        "body": check_content("body", body, MAX_TEXT_BYTES, unit="bytes"),
        "actor": check_key("person", actor, person),
        "idempotency_key": None
        if idempotency_key is None
        else check_text("idempotency_key", idempotency_key, MAX_MESSAGE_KEY_CHARS),
    }
    rows = yield Statement("notify_people", params, wakes_relays=True)
    return int(rows[0]["id"])


def _params(event: NewEvent, types: KeyTypes | None) -> dict[str, Any]:
    person, space = types or (None, None)
    event_type = check_type("type", event.type)
    thread = check_optional("thread", event.thread)
    post = check_optional("post", event.post)
    if thread is None and event_type.endswith(".deleted"):
        raise Invalid(f"{event_type} must name its thread (thread=…): what is deleted is found by its key")
    if thread is None and post is not None:
        raise Invalid(f"{event_type} must name its thread (thread=…): a post stands in a thread that is known")
    return {
        "type": event_type,
        "keys": check_keys("keys", event.keys),
        "actor": check_key("person", event.actor, person),
        "thread": thread,
        "post": post,
        "space": check_key("space", event.space, space),
        "available_at": check_instant("available_at", event.available_at),
        "idempotency_key": check_optional("idempotency_key", event.idempotency_key),
        "source": check_text("source", event.source, MAX_KEY_CHARS, least=0),
    }
