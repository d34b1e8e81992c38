"""Marking all: by a watermark for the whole inbox, row by row for one space (I4), and the panel's "seen" (I1).

The watermark is the person's `read_seq`: what has a number up to it is read. Moving it writes one row, and
what it costs depends on the rows after it only. Transaction: the caller's; the person is locked first.
"""

from datetime import datetime

from clarion.inbox.locked import lock_and_look, marked
from clarion.model.errors import Invalid
from clarion.model.inbox import Marked, MarkedAll, Undo
from clarion.model.keys import Key
from clarion.store.database import Command
from clarion.store.queries import ask


def mark_all(person: Key, cutoff: int | datetime) -> Command[MarkedAll]:
    """Mark everything read up to a cutoff, and return how to undo it. What came later stays unread.

    The cutoff is the version that the shown page carried, or an instant. An instant is translated to a number
    under the lock, just below the first row that became active after it: so nothing that became active later is
    swallowed, nor what is committed after this mark. What was timed before the instant and committed after it is
    read too, and a row whose number lies above a later one's stays unread: only the page's version tells exactly
    what was shown. No transaction that tells people may last over an hour.
    Rows marked unread by hand count as of that mark's version. Snoozed rows stay snoozed.
    Raises: `Invalid` for a cutoff above the person's version, a negative one, or an instant without a zone.
    Cost: four statements, five by instant; rows read: those after the cutoff (by instant from an hour before it).
    """
    locked = yield from lock_and_look(person)
    if isinstance(cutoff, datetime):
        if cutoff.tzinfo is None:
            raise Invalid("mark_all needs an instant with its zone: the cutoff has none")
        rows = yield ask("count_read_through", person=person, instant=cutoff, version=locked.version)
        cutoff = int(rows[0]["cutoff"])
    else:
        _check_shown("cutoff", cutoff, locked.version)
    moved = yield ask("set_watermark", person=person, cutoff=cutoff)
    if not moved:
        return MarkedAll(locked.unchanged(), Undo(locked.read_seq, locked.read_seq))
    after = yield from _recount(person, locked.unread_count)
    return MarkedAll(after, Undo(locked.read_seq, cutoff))


def undo_mark_all(person: Key, undo: Undo) -> Command[Marked]:
    """Take a mark-all back: what it had marked is unread again, but for what was read since.

    Undoing twice, or when a later mark-all stands, does nothing. Raises: `Invalid` for an `Undo` that no
    mark-all gave. Cost: four statements; it counts what is unread after the old watermark.
    """
    locked = yield from lock_and_look(person)
    if not 0 <= undo.before <= undo.after <= locked.version:
        raise Invalid(f"no mark-all of this person's went from {undo.before} to {undo.after}")
    if undo.before == undo.after:
        return locked.unchanged()
    moved = yield ask("restore_watermark", person=person, before=undo.before, after=undo.after)
    if not moved:
        return locked.unchanged()
    return (yield from _recount(person, locked.unread_count))


def mark_space(person: Key, space: Key, cutoff: int) -> Command[Marked]:
    """Mark one space's rows read up to a cutoff; what came later, and other spaces, stay.

    The watermark serves the whole inbox, so these rows are marked one by one, and there is no undo.
    Raises: `Invalid` as `mark_all`. Cost: two statements for each thousand unread rows of the person's.
    """
    locked = yield from lock_and_look(person)
    _check_shown("cutoff", cutoff, locked.version)
    changed, after, behind = 0, locked.unchanged(), (cutoff + 1, 0)
    while True:
        (found,) = yield ask(
            "find_unread_in_space",
            person=person,
            space=space,
            cutoff=cutoff,
            before_seq=behind[0],
            before_thread=behind[1],
        )
        if found["threads"]:
            after = marked((yield ask("mark_read", person=person, threads=found["threads"])))
            changed += after.changed
        if not found["more"]:
            return Marked(changed, after.version, after.unread_count)
        behind = (found["seq"], found["thread"])


def seen(person: Key, shown: int) -> Command[Marked]:
    """Note that the panel was opened and showed this version: what it showed colours the badge no more (I1).

    Only grows, and does nothing where nothing came since the last time. Raises: `Invalid` for a version above
    the person's. Cost: three statements.
    """
    locked = yield from lock_and_look(person)
    _check_shown("version", shown, locked.version)
    rows = yield ask("mark_seen", person=person, shown=shown)
    return Marked(1, rows[0]["version"], rows[0]["unread_count"]) if rows else locked.unchanged()


def _recount(person: Key, before: int) -> Command[Marked]:
    rows = yield ask("recount_unread", person=person)
    after = int(rows[0]["unread_count"])
    return Marked(abs(after - before), rows[0]["version"], after)


def _check_shown(what: str, number: int, version: int) -> None:
    if not 0 <= number <= version:
        raise Invalid(f"the {what} must be a version that a page carried, from 0 to {version}: {number} is not")
