"""Spaces and threads of a batch: found, made where they are new, and locked, in the one order (ENGINE, 2)."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from clarion.model.event import Effect, Event
from clarion.model.happening import Happening
from clarion.model.keys import Key
from clarion.store.database import Session


class _Unlocked(Exception):
    """A space has no stub yet: the locks taken are let go, so that all are taken in one order."""


@dataclass(frozen=True, slots=True)
class Place:
    """A locked thread: its stub's id, and the space that the stub is in."""

    thread: int
    space: Key | None


@dataclass(frozen=True, slots=True)
class Places:
    """What a batch holds: locked threads by key, and the keys of those that another relay holds."""

    threads: Mapping[str, Place]
    busy: frozenset[str]


async def known_threads(session: Session, events: Sequence[Event]) -> dict[str, Key | None]:
    """Return the spaces of the stubs that the events name, by thread key; nothing is locked."""
    keys = sorted({event.thread_key for event in events if event.thread_key})
    if not keys:
        return {}
    return {row["key"]: row["space"] for row in await session.fetch("find_threads", keys=keys)}


async def lock_places(
    session: Session,
    events: Sequence[Event],
    known: Mapping[str, Key | None],
    news: Iterable[Happening],
) -> Places:
    """Lock the spaces, then the threads, of a batch; make stubs for those that `news` brings.

    Threads that another relay holds are passed over, not waited for. Transaction: the relay's.
    """
    by_key = {happening.thread: happening for happening in news}
    named = [*known.values(), *(event.space for event in events), *(one.space for one in by_key.values())]
    held = {space for space in named if space is not None}
    alone = any(event.effect is Effect.ACCESS for event in events)
    await _lock_spaces(session, held, "take_spaces" if alone else "share_spaces")
    if made := sorted(key for key in by_key if key not in known):
        happenings = [by_key[key] for key in made]
        await session.fetch(
            "ensure_threads",
            keys=made,
            spaces=[happening.space for happening in happenings],
            kinds=[happening.thread_kind for happening in happenings],
            titles=[happening.title for happening in happenings],
            links=[happening.link for happening in happenings],
        )
    wanted = set(known) | set(by_key)
    if not wanted:
        return Places({}, frozenset())
    rows = await session.fetch("lock_threads", keys=sorted(wanted))
    threads = {
        row["key"]: Place(row["id"], row["space"]) for row in rows if row["space"] is None or row["space"] in held
    }
    return Places(threads, frozenset(wanted - set(threads)))


async def _lock_spaces(session: Session, spaces: set[Key], mode: str) -> None:
    """Lock all of a batch's spaces in one order and one mode; make stubs for those met for the first time."""
    if not spaces:
        return
    with suppress(_Unlocked):
        async with session.transaction():
            if len(await session.fetch(mode, spaces=list(spaces))) < len(spaces):
                raise _Unlocked
        return
    await session.fetch("ensure_spaces", spaces=list(spaces))
    await session.fetch(mode, spaces=list(spaces))


async def share_space(session: Session, space: Key) -> None:
    """Share one more space: a resolver names another than the stub is in, as after a move."""
    await session.fetch("ensure_spaces", spaces=[space])
    await session.fetch("share_spaces", spaces=[space])
