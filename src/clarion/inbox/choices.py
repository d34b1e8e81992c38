"""What a person chooses to hear: threads, spaces, people, and kinds of activity (W5 to W10, W14).

A choice is about new activity; only a block looks at rows that are there already. Each is made under the
person's lock, does nothing the second time, and raises the version where it changed something. What the
person may not read is told like what is not there. Transaction: the caller's. Cost: two to four statements.
"""

from clarion.inbox.locked import change, lock, marked
from clarion.model.errors import Invalid, NotFound
from clarion.model.inbox import Marked, WatchLevel
from clarion.model.keys import Key
from clarion.store.database import Command
from clarion.store.queries import ask


def find_thread(key: str) -> Command[int]:
    """Return the number of a thread by the host's key. Raises: `NotFound` before its first event is handled."""
    rows = yield ask("find_inbox_thread", thread=key)
    if not rows:
        raise _no_thread(key)
    return int(rows[0]["id"])


def subscribe(person: Key, thread: int) -> Command[Marked]:
    """Follow a thread. Takes an unsubscribe back. Raises: `NotFound` for one that the person may not read."""
    yield from lock(person)
    rows = yield ask("look_at_thread", person=person, thread=thread)
    if not rows or not rows[0]["readable"]:
        raise _no_thread(thread)
    return marked((yield ask("subscribe", person=person, thread=thread)))


def unsubscribe(person: Key, thread: int) -> Command[Marked]:
    """Follow a thread no more, whatever one does in it or watches: only direct reasons still tell (W10).

    Needs no read access (W15). Raises: `NotFound` for a thread that the person never had to do with and may
    not read.
    """
    yield from lock(person)
    rows = yield ask("look_at_thread", person=person, thread=thread)
    if not rows or not (rows[0]["readable"] or rows[0]["known"]):
        raise _no_thread(thread)
    return marked((yield ask("unsubscribe", person=person, thread=thread)))


def watch(person: Key, space: Key, level: WatchLevel) -> Command[Marked]:
    """Hear of everything in a space, of what one takes part in, or of nothing (W5, W7).

    Raises: `NotFound` for a space that the person may not read.
    """
    yield from lock(person)
    if not (yield ask("look_at_space", person=person, space=space)):
        raise NotFound(f"there is no space {space} that you can read")
    return marked((yield ask("watch", person=person, space=space, level=level.value)))


def unwatch(person: Key, space: Key) -> Command[Marked]:
    """Choose nothing for a space any more. Needs no read access."""
    return change("unwatch", person, space=space)


def block(person: Key, other: Key) -> Command[Marked]:
    """Block somebody: from now on neither hears of the other (W8), and what is there already is looked at again.

    Rows of either that stand only for posts of the other are hidden, in this transaction (W15). It waits for
    tellings under way and they for it. Raises: `NotFound` for somebody unknown, `Invalid` for oneself.
    Cost: five statements and six with rows to look at; rows of both with the other's posts in them are read.
    """
    yield from _look_for(other, person)
    return (yield from _change_block("block", person, other))


def unblock(person: Key, other: Key) -> Command[Marked]:
    """Take a block back: hidden rows come back as read, unless something else hides them. Cost: as `block`."""
    return _change_block("unblock", person, other)


def mute(person: Key, other: Key) -> Command[Marked]:
    """Hear of somebody only directly from now on (W8).

    Raises: `NotFound` for somebody unknown, `Invalid` for oneself.
    """
    yield from _look_for(other, person)
    return (yield from change("mute", person, other=other))


def unmute(person: Key, other: Key) -> Command[Marked]:
    """Hear of somebody again."""
    return change("unmute", person, other=other)


def choose(person: Key, *, own: bool | None = None, housekeeping: bool | None = None) -> Command[Marked]:
    """Opt in to one's own activity (W6) and to housekeeping (W14), or out again; what is None stays."""
    return change("choose", person, own=own, housekeeping=housekeeping)


def _change_block(name: str, person: Key, other: Key) -> Command[Marked]:
    yield from lock(person, other)
    answer = marked((yield ask(name, person=person, other=other)))
    if not answer.changed:
        return answer
    pairs = yield ask("pairs_with_author", people=[person, other], authors=[other, person])
    if not pairs:
        return answer
    threads, people = [pair["thread"] for pair in pairs], [pair["person"] for pair in pairs]
    yield ask("set_hidden", threads=threads, people=people)
    after = yield ask("get_inbox", person=person)
    return Marked(answer.changed, after[0]["version"], after[0]["unread_count"])


def _look_for(other: Key, person: Key) -> Command[None]:
    if other == person:
        raise Invalid("this is about somebody else: you named yourself")
    if not (yield ask("look_at_person", person=other)):
        raise NotFound(f"there is no person {other}")


def _no_thread(thread: int | str) -> NotFound:
    return NotFound(f"there is no thread {thread} that you can read")
