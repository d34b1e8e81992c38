"""Taking back and hiding: deletions, withdrawals, moves, changes of access, ends of snoozes.

Each effect says whom it reaches, behind the event's cursor, and what it does once those people are locked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from clarion.model.event import Effect, Event
from clarion.model.happening import Happening
from clarion.model.keys import Key
from clarion.notifier.places import Place
from clarion.store.database import Row, Session


@dataclass(slots=True)
class Taking:
    """One event that takes something back or hides it."""

    event: Event
    place: Place | None
    happening: Happening | None = None
    post: Row | None = None
    person: Key | None = None
    people: Sequence[Key] = ()


async def reach(session: Session, taking: Taking, limit: int, going: Sequence[str]) -> Sequence[Key] | None:
    """Return whom the event reaches, in order, at most `limit`; `None` when there is nothing to do at all.

    `going` are the keys of all posts that the batch deletes.
    """
    event, place = taking.event, taking.place
    behind = {"cursor": event.cursor, "limit": limit}
    match event.effect:
        case Effect.ACCESS if event.space is None:
            return None
        case Effect.ACCESS if taking.person is not None:
            return [taking.person]
        case Effect.ACCESS:
            rows = await session.fetch("reach_space", space=event.space, **behind)
        case Effect.WAKE:
            return [taking.person] if taking.person is not None and place else None
        case _ if place is None:
            return None
        case Effect.DELETE if event.post_key is not None:
            found = await session.fetch("find_posts", keys=[event.post_key])
            if not found or (found[0]["gone"] and event.cursor is None):
                return None
            taking.post = found[0]
            rows = await session.fetch(
                "reach_deleted_post",
                post=taking.post["id"],
                thread=taking.post["thread"],
                position=taking.post["position"],
                going=list(going),
                **behind,
            )
        case Effect.WITHDRAW if taking.happening is not None:
            rows = await session.fetch("reach_roles", thread=place.thread, **_roles(taking.happening), **behind)
        case Effect.DELETE | Effect.MOVE:
            rows = await session.fetch("reach_thread", thread=place.thread, **behind)
        case _:
            return None
    return [row["person"] for row in rows]


async def take(session: Session, taking: Taking, people: Sequence[Key], *, last: bool) -> None:
    """Do what the event says for these people, who are locked; `last` when nobody is left behind them."""
    event, place = taking.event, taking.place
    match event.effect:
        case Effect.ACCESS:
            await _hide(session, await session.fetch("pairs_in_space", spaces=[event.space], people=list(people)))
        case Effect.WAKE if place:
            await session.fetch("end_snooze", thread=place.thread, person=taking.person)
        case Effect.DELETE if taking.post is not None:
            await session.fetch("remove_post", post=taking.post["id"])
            await session.fetch("remove_hits", post=taking.post["id"], people=list(people))
            await _settle(session, taking.post["thread"], people)
        case Effect.DELETE if place:
            await session.fetch("drop_rows", thread=place.thread, people=list(people))
            if last:
                await session.fetch("drop_thread", thread=place.thread)
        case Effect.WITHDRAW if place and taking.happening:
            await session.fetch("remove_roles", thread=place.thread, people=list(people), **_roles(taking.happening))
            await _settle(session, place.thread, people)
        case Effect.MOVE if place and taking.happening:
            await session.fetch("move_thread", thread=place.thread, space=taking.happening.space)
            await _hide(session, [{"thread": place.thread, "person": person} for person in people])
        case _:
            raise AssertionError(event)


def _roles(happening: Happening) -> dict[str, list[Key]]:
    return {"assigned": list(happening.assigned), "review_requested": list(happening.review_requested)}


async def _settle(session: Session, thread: int, people: Sequence[Key]) -> None:
    if people:
        await session.fetch("settle_rows", threads=[thread] * len(people), people=list(people))


async def _hide(session: Session, pairs: Sequence[Row]) -> None:
    if pairs:
        await session.fetch(
            "set_hidden", threads=[pair["thread"] for pair in pairs], people=[pair["person"] for pair in pairs]
        )
