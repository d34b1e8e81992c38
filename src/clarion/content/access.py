"""Access: what happens to inboxes when rights change (W15).

Kept here: a person's rights change under that person's lock, and their rows are asked the one question
again in the same transaction; what changes for a whole space waits for its fan-outs, and an event tells
the notifier to ask for everybody.
"""

from collections.abc import Iterable

from clarion.model.errors import NotFound
from clarion.model.keys import Key
from clarion.outbox.publish import NewEvent, publish, publish_many
from clarion.store.database import Command
from clarion.store.queries import ask


def require_people(people: Iterable[Key]) -> Command[None]:
    """Make sure that all these people are known. Raises: `NotFound`, naming one who is not."""
    wanted = list(dict.fromkeys(people))
    missing = (yield ask("find_missing_people", people=wanted)) if wanted else []
    if missing:
        raise NotFound(f"no such person: {missing[0]['person']}")


def lock_person(person: Key) -> Command[None]:
    """Take the person's lock: no fan-out judges them until the end of the transaction."""
    yield ask("ensure_inboxes", people=[person])
    yield ask("lock_people", people=[person])


def ask_access_again(person: Key, spaces: Iterable[Key]) -> Command[None]:
    """Hide what the locked person may not read any more in these spaces; bring back as read what they may."""
    pairs = yield ask("pairs_in_space", spaces=list(spaces), people=[person])
    if pairs:
        yield ask("set_hidden", threads=[p["thread"] for p in pairs], people=[p["person"] for p in pairs])


def take_spaces(spaces: Iterable[Key]) -> Command[None]:
    """Be alone with these spaces: fan-outs under way are waited for, later ones wait."""
    wanted = list(spaces)
    yield ask("ensure_spaces", spaces=wanted)
    yield ask("take_spaces", spaces=wanted)


def publish_access_changed(spaces: Iterable[Key], actor: Key | None) -> Command[list[int]]:
    """Tell the notifier to ask for everybody in these spaces. Returns the events' ids."""
    events = [NewEvent(type="access.changed", space=space, actor=actor) for space in spaces]
    if len(events) == 1:
        return [(yield from publish(events[0]))]
    return (yield from publish_many(events)) if events else []
