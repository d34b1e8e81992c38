"""Marks on rows: read, done, saved, snoozed (I1).

The four stand apart from each other, but for this: done implies read and ends a snooze, since what is done
needs no reminder; unread clears done and ends a snooze. Reading leaves a snooze as it is: it ends as unread.

Every mark takes numbers of threads (`Row.thread`), passes over those of which the person has no row to see,
and does nothing the second time: no version, no count. Transaction: the caller's; the person is locked first
and stays so until it ends. Raises: `TooLarge` for more than 100 threads. Cost: two statements.
"""

from collections.abc import Collection
from datetime import datetime

from clarion.inbox.locked import change, lock_and_look, marked
from clarion.model.errors import Invalid, TooLarge
from clarion.model.inbox import MAX_PAGE, Marked
from clarion.model.keys import Key
from clarion.outbox.publish import NewEvent, publish
from clarion.store.database import Command
from clarion.store.queries import ask

SNOOZE_ENDED = "snooze.ended"
"""The event that a snooze leaves in the future (O10)."""


def read(person: Key, threads: Collection[int]) -> Command[Marked]:
    """Mark rows read. Their place in the list stays (I3)."""
    return change("mark_read", person, threads=_checked(threads))


def unread(person: Key, threads: Collection[int]) -> Command[Marked]:
    """Mark rows unread, done and snoozed ones too: afterwards they are in the unread list.

    A mark-all of a page that was shown before leaves them unread; one shown after it does not (I4).
    """
    return change("mark_unread", person, threads=_checked(threads))


def done(person: Key, threads: Collection[int]) -> Command[Marked]:
    """Put rows away as done, which makes them read and ends their snooze. A placeholder is dismissed so (I7)."""
    return change("mark_done", person, threads=_checked(threads))


def not_done(person: Key, threads: Collection[int]) -> Command[Marked]:
    """Take done back: the rows are among the others again, as read, since done had read them."""
    return change("mark_not_done", person, threads=_checked(threads))


def save(person: Key, threads: Collection[int]) -> Command[Marked]:
    """Save rows: they stay when what they tell of is gone (W12)."""
    return change("mark_saved", person, threads=_checked(threads))


def unsave(person: Key, threads: Collection[int]) -> Command[Marked]:
    """Take saving back; a row that stands for nothing any more goes (W12)."""
    return change("mark_unsaved", person, threads=_checked(threads))


def snooze(person: Key, threads: Collection[int], until: datetime) -> Command[Marked]:
    """Put rows away until a time, when they come back as unread, on top (I1, O10).

    A snooze of a snoozed row replaces its time. Raises: also `Invalid` for a time without a zone, or one
    that is not in the future. Cost: four statements, and one a row that changed, for the event of its end.
    """
    numbers = _checked(threads)
    if until.tzinfo is None:
        raise Invalid("snooze needs a time with its zone: `until` has none")
    locked = yield from lock_and_look(person)
    if until <= locked.now:
        raise Invalid(f"snooze needs a time in the future: {until.isoformat()} is past")
    rows = yield ask("mark_snoozed", person=person, threads=numbers, until=until)
    keys = yield ask("find_thread_keys", threads=rows[0]["threads"])
    for row in keys:
        event = NewEvent(type=SNOOZE_ENDED, thread=row["key"], keys={"person": str(person)}, available_at=until)
        yield from publish(event)
    return marked(rows)


def unsnooze(person: Key, threads: Collection[int]) -> Command[Marked]:
    """Take a snooze back: the rows are again what and where they were, as if not snoozed."""
    return change("mark_snoozed", person, threads=_checked(threads), until=None)


def _checked(threads: Collection[int]) -> list[int]:
    if len(threads) > MAX_PAGE:
        raise TooLarge(f"a mark takes at most {MAX_PAGE} threads, not {len(threads)}: send the rest by another")
    return list(threads)
