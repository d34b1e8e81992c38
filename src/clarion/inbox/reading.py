"""Reading the thing itself: whoever has opened a thread or a post needs no telling of it (I5).

Stores how far the person has read, marks the row as far, and leaves a mark at the events that wait to be
handled, so that handling them later makes nothing unread. Events are known by the thread and post that they
were published with. Transaction: the caller's, with nothing of the inbox changed in it before: waiting events
are locked ahead of the person, as relays do, and one that is being handled is waited for.
"""

from clarion.inbox.locked import lock, lock_and_look, marked
from clarion.model.inbox import Marked
from clarion.model.keys import Key
from clarion.store.database import Command
from clarion.store.queries import ask


def read_thread(person: Key, thread: str) -> Command[Marked]:
    """Read a thread, by the host's key, as far as it goes now.

    A thread that nothing is known of yet is no error: its first event may be on its way.
    Cost: at most six statements.
    """
    yield ask("read_ahead", person=person, thread=thread, post=None)
    return (yield from _read_up_to(person, thread, None))


def read_post(person: Key, post: str, *, thread: str | None = None) -> Command[Marked]:
    """Read a thread as far as one post, by the host's keys; later posts stay unread.

    Name the thread where the content is the host's own: a post whose event is not handled yet is found by it.
    Cost: at most seven statements.
    """
    if thread is None:
        rows = yield ask("find_thread_of_post", post=post)
        if not rows:
            return (yield from lock_and_look(person)).unchanged()
        thread = rows[0]["key"]
    yield ask("read_ahead", person=person, thread=thread, post=post)
    return (yield from _read_up_to(person, thread, post))


def _read_up_to(person: Key, thread: str | None, post: str | None) -> Command[Marked]:
    """Mark as read up to where a thread goes, or to a post in it, as it stands before the lock.

    What is told between is later than what was read, and stays unread.
    """
    places = yield ask("find_position", thread=thread, post=post)
    if not places:
        return (yield from lock_and_look(person)).unchanged()
    place = places[0]
    yield from lock(person)
    yield ask("keep_position", person=person, **place)
    answer = marked((yield ask("read_up_to", person=person, **place)))
    if answer.changed:
        yield ask("settle_rows", threads=[place["thread"]], people=[person])
    return answer
