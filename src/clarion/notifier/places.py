"""Spaces and threads of a batch: found, made where they are new, and locked, in the one order (ENGINE, 2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from clarion.model.event import Effect, Event
from clarion.model.happening import Happening
from clarion.model.keys import Key
from clarion.store.database import Session


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
    taken = {event.space for event in events if event.effect is Effect.ACCESS and event.space is not None}
    shared = {space for space in known.values() if space is not None}
    shared |= {happening.space for happening in by_key.values() if happening.space is not None}
    await _lock_spaces(session, taken, shared - taken)
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
    held = taken | shared
    threads = {
        row["key"]: Place(row["id"], row["space"]) for row in rows if row["space"] is None or row["space"] in held
    }
    return Places(threads, frozenset(wanted - set(threads)))


async def _lock_spaces(session: Session, taken: set[Key], shared: set[Key]) -> None:
    if not taken and not shared:
        return
    spaces = list(taken | shared)
    if shared and len(await session.fetch("share_spaces", spaces=list(shared))) < len(shared):
        await session.fetch("ensure_spaces", spaces=spaces)
        await session.fetch("share_spaces", spaces=list(shared))
    if taken:
        await session.fetch("ensure_spaces", spaces=list(taken))
        await session.fetch("take_spaces", spaces=list(taken))


async def share_space(session: Session, space: Key) -> None:
    """Share one more space: a resolver names another than the stub is in, as after a move."""
    await session.fetch("ensure_spaces", spaces=[space])
    await session.fetch("share_spaces", spaces=[space])
