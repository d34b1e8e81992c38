"""The lock of an inbox, and what a change under it answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clarion.model.inbox import Marked
from clarion.model.keys import Key
from clarion.store.database import Command, Row
from clarion.store.queries import ask


@dataclass(frozen=True, slots=True)
class Locked:
    """An inbox while it is locked, and the database's time."""

    version: int
    unread_count: int
    read_seq: int
    seen_seq: int
    now: datetime

    def unchanged(self) -> Marked:
        """Return the answer of a change that found nothing to do."""
        return Marked(0, self.version, self.unread_count)


def lock(*people: Key) -> Command[None]:
    """Lock people's inboxes, in order, making those that are missing: first in every change (ENGINE, 2).

    Until the caller's transaction ends nobody else changes their rows or choices. Cost: one statement.
    """
    yield ask("lock_inboxes", people=list(people))


def lock_and_look(person: Key) -> Command[Locked]:
    """Lock one inbox and read it, in a snapshot taken after the lock. Cost: two statements."""
    yield from lock(person)
    rows = yield ask("get_inbox", person=person)
    return Locked(**rows[0])


def change(name: str, person: Key, /, **params: Any) -> Command[Marked]:
    """Lock a person's inbox, then run a named change of it. Cost: two statements."""
    yield from lock(person)
    rows = yield ask(name, person=person, **params)
    return marked(rows)


def marked(rows: Iterable[Row]) -> Marked:
    """Return what a statement that ends in `raise_inbox` answers."""
    (row,) = rows
    return Marked(row["changed"], row["version"], row["unread_count"])
