"""Telling: posts, edits and requests of a batch become notifications, all in one judgement (W)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clarion.model.event import Effect, Event
from clarion.model.happening import Happening, Part
from clarion.model.keys import Key
from clarion.model.reasons import Reason
from clarion.model.text import MAX_MENTIONS
from clarion.notifier.naming import Named, Naming, Text, find_named
from clarion.notifier.places import Place
from clarion.outbox.publish import notify
from clarion.store.database import Command, Session

TOLD = frozenset({Effect.POST, Effect.ASK, Effect.EDIT, Effect.RECORD, Effect.HOUSEKEEPING})
"""What this module handles."""

SPEAKS_FOR_ALL = (Effect.POST, Effect.EDIT, Effect.RECORD)
"""Which event of a post speaks for the others of a batch, first choice first: they all see the same rows (O12)."""


@dataclass(slots=True)
class Tale:
    """One event to tell: what happened, where, and whom its texts and rows name."""

    event: Event
    happening: Happening
    place: Place
    parts: tuple[Part, ...]
    people: list[Named] = field(default_factory=list)
    teams: list[Named] = field(default_factory=list)
    post: int | None = None
    posted_at: datetime | None = None
    announced: bool = False
    beyond: int = 0
    candidates: list[Key] = field(default_factory=list)

    @property
    def written_at(self) -> datetime:
        """When the text was written, as far as we know: an edit goes by the post it edits (W17)."""
        return self.posted_at or self.event.created_at

    @property
    def bulk(self) -> bool:
        """Whether the followers hear, not only those named: once for each post (O12)."""
        return self.event.effect in {Effect.POST, Effect.HOUSEKEEPING} and (
            not self.announced or self.event.cursor is not None
        )

    @property
    def told_before(self) -> bool:
        """Whether this creation was handled already, by another event of the same post."""
        return self.event.effect in {Effect.POST, Effect.HOUSEKEEPING} and not self.bulk


async def make_tales(
    session: Session, happened: Sequence[tuple[Event, Happening, Place]]
) -> tuple[list[Tale], dict[int, int]]:
    """Return what is to be told, and the events that only repeat another of the batch, with that other's id."""
    leaders: dict[str, Tale] = {}
    repeats: dict[int, int] = {}
    for event, happening, place in happened:
        tale = Tale(event, happening, place, happening.all_parts(event.id))
        leader = leaders.setdefault(tale.parts[0].post, tale)
        if leader is not tale:
            if _precedence(tale) < _precedence(leader):
                leaders[tale.parts[0].post], tale, leader = tale, leader, tale
            if leader.event.cursor is None:  # else it speaks only for those behind its cursor: left for the next claim
                repeats[tale.event.id] = leader.event.id
    tales = list(leaders.values())
    await _find_posts(session, tales)
    await _name(session, tales)
    return tales, repeats


async def find_candidates(session: Session, tales: Sequence[Tale], limit: int) -> None:
    """Fill in a superset of those who may hear, in order of person, at most `limit` for each tale."""
    by_event = {tale.event.id: tale for tale in tales}
    if not tales:
        return
    rows = await session.fetch("find_candidates", **judgement(tales, {}), limit=limit)
    for row in rows:
        by_event[row["event"]].candidates.append(row["person"])


async def tell(session: Session, tales: Sequence[Tale], people: Sequence[Key]) -> dict[str, int]:
    """Write what the tales mean for these people, who are locked. Returns notifications by reason."""
    posts = await _record_posts(session, tales)
    parameters = judgement(tales, posts)
    edited = await _remove_mentions(session, tales, posts, parameters, people)
    if concerned := _concerned(tales, people):
        await session.fetch("follow_threads", **parameters, people=concerned)
    rows = await session.fetch("write_notifications", **parameters, people=list(people))
    await session.fetch(
        "update_threads",
        threads=[tale.place.thread for tale in tales],
        titles=[tale.happening.title for tale in tales],
        links=[tale.happening.link for tale in tales],
        kinds=[tale.happening.thread_kind for tale in tales],
    )
    if edited:
        named = await session.fetch("find_hits", posts=edited, people=list(people))
        await session.fetch(
            "settle_rows", threads=[row["thread"] for row in named], people=[row["person"] for row in named]
        )
    for tale in tales:
        if tale.beyond and tale.happening.actor is not None:
            await session.run(_tell_author(tale, tale.happening.actor))
    return {row["reason"]: row["count"] for row in rows}


def _tell_author(tale: Tale, author: Key) -> Command[int]:
    """Tell the author that some mentions count for nobody (T4); once for the event, in however many chunks."""
    return notify(
        [author],
        kind="mentions.over_limit",
        title=f"{tale.beyond} of your mentions told nobody: the first {MAX_MENTIONS} in a post count",
        link=tale.happening.link,
        idempotency_key=f"mentions:{tale.event.id}",
    )


def _concerned(tales: Sequence[Tale], people: Sequence[Key]) -> list[Key]:
    """Return those whom the tales may subscribe: who is named, and who acted (W9)."""
    named = {one.whom for tale in tales for one in tale.people if tale.place.space is not None}
    actors = {tale.happening.actor for tale in tales if tale.happening.subscribes_actor}
    return [person for person in people if person in named or person in actors]


def judgement(tales: Sequence[Tale], posts: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Return the parameters of the judgement for these tales; `posts` gives id and position by key."""
    named = [one for tale in tales for one in tale.people]
    teams = [one for tale in tales for one in tale.teams]
    return {
        **_happenings(tales, posts),
        "named_events": [one.event for one in named],
        "named_people": [one.whom for one in named],
        "named_reasons": [one.reason.value for one in named],
        "named_posts": [posts.get(one.post, (None, None))[0] for one in named],
        "named_positions": [posts.get(one.post, (None, None))[1] for one in named],
        "team_events": [one.event for one in teams],
        "team_ids": [one.whom for one in teams],
        "team_posts": [posts.get(one.post, (None, None))[0] for one in teams],
        "team_positions": [posts.get(one.post, (None, None))[1] for one in teams],
    }


def _precedence(tale: Tale) -> int:
    """Return how early an event comes in `SPEAKS_FOR_ALL`; one under way goes before all."""
    effect = tale.event.effect
    return -1 if tale.event.cursor is not None else SPEAKS_FOR_ALL.index(effect) if effect in SPEAKS_FOR_ALL else 0


def _happenings(tales: Sequence[Tale], posts: Mapping[str, tuple[int, int]]) -> dict[str, list[Any]]:
    placed = [posts.get(tale.parts[0].post, (tale.post, None)) for tale in tales]
    ends = [[posts[part.post][1] for part in tale.parts if part.post in posts] for tale in tales]
    return {
        "events": [tale.event.id for tale in tales],
        "threads": [tale.place.thread for tale in tales],
        "spaces": [tale.place.space for tale in tales],
        "actors": [tale.happening.actor for tale in tales],
        "posts": [post for post, _ in placed],
        "positions": [position for _, position in placed],
        "last_positions": [max(positions, default=None) for positions in ends],
        "bulks": [tale.bulk for tale in tales],
        "housekeepings": [tale.event.effect is Effect.HOUSEKEEPING for tale in tales],
        "subscribes": [tale.happening.subscribes_actor for tale in tales],
        "cursors": [tale.event.cursor for tale in tales],
    }


async def _name(session: Session, tales: Iterable[Tale]) -> None:
    by_event = {tale.event.id: tale for tale in tales}
    texts = [
        Text(tale.event.id, part, tale.happening.actor, tale.place.space, tale.written_at)
        for tale in by_event.values()
        for part in tale.parts
    ]
    naming: Naming = await find_named(session, texts)
    for tale in by_event.values():
        happening, post = tale.happening, tale.parts[0].post
        for reason, people in (
            (Reason.ASSIGNED, happening.assigned),
            (Reason.REVIEW_REQUESTED, happening.review_requested),
            (Reason.ADDRESSED, happening.addressed),
        ):
            tale.people += [Named(tale.event.id, post, person, reason) for person in people]
    for one in naming.people:
        by_event[one.event].people.append(one)
    for one in naming.teams:
        by_event[one.event].teams.append(one)
    for event, beyond in naming.beyond.items():
        by_event[event].beyond = beyond


async def _find_posts(session: Session, tales: Sequence[Tale]) -> None:
    by_key = {tale.parts[0].post: tale for tale in tales}
    if not by_key:
        return
    for row in await session.fetch("find_posts", keys=sorted(by_key)):
        by_key[row["key"]].post = row["id"]
        by_key[row["key"]].announced = row["announced"]
        by_key[row["key"]].posted_at = row["at"]


async def _record_posts(session: Session, tales: Sequence[Tale]) -> dict[str, tuple[int, int]]:
    parts = [(tale, part) for tale in tales for part in tale.parts]
    rows = await session.fetch(
        "record_posts",
        threads=[tale.place.thread for tale, _ in parts],
        keys=[part.post for _, part in parts],
        kinds=[_post_kind(tale, part) for tale, part in parts],
        authors=[one.actor if one.author is None else one.author for one in (tale.happening for tale, _ in parts)],
        announce=[tale.event.effect is not Effect.EDIT for tale, _ in parts],
        written_at=[tale.written_at for tale, _ in parts],
    )
    return {row["key"]: (row["id"], row["position"]) for row in rows}


def _post_kind(tale: Tale, part: Part) -> str:
    if tale.event.effect is Effect.HOUSEKEEPING:
        return "housekeeping"
    if tale.event.effect is Effect.ASK:
        return "assigned" if tale.happening.assigned else "review_requested"
    return part.kind


async def _remove_mentions(
    session: Session,
    tales: Sequence[Tale],
    posts: Mapping[str, tuple[int, int]],
    parameters: Mapping[str, Any],
    people: Sequence[Key],
) -> list[int]:
    """Take out whom edited texts no longer name. Returns the posts that may have lost or gained a name."""
    known = [tale for tale in tales if tale.post is not None and tale.event.effect is Effect.EDIT]
    if not known:
        return []
    pairs = [(posts[part.post][0], tale.event.id) for tale in known for part in tale.parts]
    await session.fetch(
        "remove_mentions",
        posts=[post for post, _ in pairs],
        events=[event for _, event in pairs],
        people=list(people),
        named_events=parameters["named_events"],
        named_people=parameters["named_people"],
        team_events=parameters["team_events"],
        team_ids=parameters["team_ids"],
    )
    return [post for post, _ in pairs]
