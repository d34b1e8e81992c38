"""The marks that a person sets on rows, by the names that doors give them, and the words for each."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from clarion.inbox import marks
from clarion.inbox.listing import get_row
from clarion.model.inbox import Marked
from clarion.model.keys import Key
from clarion.store.database import Command


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark."""

    name: str
    command: Callable[[Key, Collection[int]], Command[Marked]]
    button: str
    promise: str


MARKS: Mapping[str, Mark] = {
    mark.name: mark
    for mark in (
        Mark("read", marks.read, "Read", "Mark as read; the place in the list stays."),
        Mark("unread", marks.unread, "Unread", "Mark as unread, also what was done or snoozed."),
        Mark("done", marks.done, "Done", "Put away as done (archived), which reads it."),
        Mark("undone", marks.not_done, "Not done", "Take done back; it is among the others again, as read."),
        Mark("save", marks.save, "Save", "Save; it stays when what it tells of is gone."),
        Mark("unsave", marks.unsave, "Unsave", "Take saving back."),
        Mark("unsnooze", marks.unsnooze, "Wake", "Take a snooze back."),
    )
}


def mark_one(mark: Mark, person: Key, thread: int) -> Command[Marked]:
    """Set a mark on one row. Raises: `NotFound` where the person has none, whoever else has."""
    yield from get_row(person, thread)
    return (yield from mark.command(person, [thread]))


def snooze_one(person: Key, thread: int, until: datetime) -> Command[Marked]:
    """Put one row away until a time. Raises: as `mark_one`, and as `snooze`."""
    yield from get_row(person, thread)
    return (yield from marks.snooze(person, [thread], until))
