"""Housekeeping: what is done to a thread and notifies nobody, unless they ask for it (W14).

Kept here: labels, locks and the like are recorded as events alone; Clarion keeps no state of them.
"""

import re

from clarion.content.outcome import Written
from clarion.content.threads import share_thread
from clarion.model.errors import Invalid
from clarion.model.keys import Key
from clarion.outbox.publish import NewEvent, publish
from clarion.store.database import Command

_CHANGE = re.compile(r"[a-z][a-z0-9_]{0,39}")


def record_change(
    thread: str, change: str, *, actor: Key | None = None, idempotency_key: str | None = None, source: str = ""
) -> Command[Written]:
    """Record that something small was done to a thread, such as `labeled`, `locked`, `pinned`, `milestoned`,
    `converted_to_draft`, `ready_for_review` or `synchronize`: `thread.changed`.

    Since no row remembers it, only an idempotency key keeps a repeated message from being a second event.
    Transaction: the caller's. Raises: `Invalid` for a change that is no word of a-z, 0-9 and `_` of at most 40
    characters, `NotFound` for an unknown thread or actor, `Gone`; the database's error for an idempotency key
    that was used for another event.
    """
    if not _CHANGE.fullmatch(change):
        raise Invalid(f"{change[:40]!r} is no change: a word of a-z, 0-9 and _, at most 40 characters")
    row = yield from share_thread(thread, actor)
    event = yield from publish(
        NewEvent(
            type="thread.changed",
            keys={"change": change},
            thread=row["key"],
            space=row["space"],
            actor=actor,
            idempotency_key=idempotency_key,
            source=source,
        )
    )
    return Written(row["id"], row["key"], event, changed=True)
