"""What a person chooses to hear: threads, spaces, people, kinds of activity."""

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from clarion.api.door import PersonDoor
from clarion.api.shapes import In, MarkedOut, PersonPath, SpacePath, Storable, key_of, marked, refusals
from clarion.inbox import choices
from clarion.model.errors import NotFound
from clarion.model.inbox import Marked, WatchLevel
from clarion.model.keys import Key
from clarion.store.database import Command

router = APIRouter(tags=["choices"], responses=refusals(NotFound))

ThreadPath = Annotated[str, key_of("thread"), Storable]


class WatchIn(In):
    """How much of a space the person wants to hear."""

    level: WatchLevel = Field(
        WatchLevel.ALL,
        description="all: everything; participating: as if not watching; ignore: nothing, not even mentions.",
    )


class ChoicesIn(In):
    """Opt-ins; what is left out stays."""

    own: bool | None = Field(None, description="Hear of one's own activity.")
    housekeeping: bool | None = Field(None, description="Hear of labels, locks and the like.")


@router.put("/v1/subscriptions/{thread:key}", response_model=MarkedOut)
async def subscribe(thread: ThreadPath, door: PersonDoor) -> Response:
    """Follow a thread, by the host's key; takes an unsubscribe back."""
    return await door.answer(marked, _subscribe, door.me, thread)


@router.delete("/v1/subscriptions/{thread:key}", response_model=MarkedOut)
async def unsubscribe(thread: ThreadPath, door: PersonDoor) -> Response:
    """Follow a thread no more (mute it), whatever one does in it: only what is direct still tells."""
    return await door.answer(marked, _unsubscribe, door.me, thread)


@router.put("/v1/watches/{space:key}", response_model=MarkedOut)
async def watch(space: SpacePath, how: WatchIn, door: PersonDoor) -> Response:
    """Hear of everything in a space, of what one takes part in, or of nothing."""
    return await door.answer(marked, choices.watch, door.me, space, how.level)


@router.delete("/v1/watches/{space:key}", response_model=MarkedOut)
async def unwatch(space: SpacePath, door: PersonDoor) -> Response:
    """Choose nothing for a space any more."""
    return await door.answer(marked, choices.unwatch, door.me, space)


@router.put("/v1/blocks/{person:key}", response_model=MarkedOut)
async def block(person: PersonPath, door: PersonDoor) -> Response:
    """Block somebody: neither hears of the other, and what is there of the other is hidden."""
    return await door.answer(marked, choices.block, door.me, person)


@router.delete("/v1/blocks/{person:key}", response_model=MarkedOut)
async def unblock(person: PersonPath, door: PersonDoor) -> Response:
    """Take a block back; what it hid comes back as read."""
    return await door.answer(marked, choices.unblock, door.me, person)


@router.put("/v1/mutes/{person:key}", response_model=MarkedOut)
async def mute(person: PersonPath, door: PersonDoor) -> Response:
    """Hear of somebody only directly."""
    return await door.answer(marked, choices.mute, door.me, person)


@router.delete("/v1/mutes/{person:key}", response_model=MarkedOut)
async def unmute(person: PersonPath, door: PersonDoor) -> Response:
    """Hear of somebody again."""
    return await door.answer(marked, choices.unmute, door.me, person)


@router.patch("/v1/me/choices", response_model=MarkedOut)
async def choose(what: ChoicesIn, door: PersonDoor) -> Response:
    """Opt in to one's own activity and to housekeeping, or out again."""
    return await door.answer(marked, choices.choose, door.me, own=what.own, housekeeping=what.housekeeping)


def _subscribe(person: Key, key: str) -> Command[Marked]:
    try:
        return (yield from choices.subscribe(person, (yield from choices.find_thread(key))))
    except NotFound:
        raise _no_thread(key) from None


def _unsubscribe(person: Key, key: str) -> Command[Marked]:
    try:
        return (yield from choices.unsubscribe(person, (yield from choices.find_thread(key))))
    except NotFound:
        raise _no_thread(key) from None


def _no_thread(key: str) -> NotFound:
    """Tell of a thread that is not there and of one that may not be read alike."""
    return NotFound(f"there is no thread {key} that you can read")
