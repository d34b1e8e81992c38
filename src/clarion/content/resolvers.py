"""Resolvers: what our own events mean, read from the rows as they are when the events are handled (O2, O12).

Kept here: a batch of one type costs a constant number of statements, whatever its size; what is deleted, and
what no longer holds, is left out and so skipped. A host's resolvers come in by the same protocol.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from clarion.content.threads import opening_key
from clarion.model.event import Event
from clarion.model.happening import Happening, Part, Reading, Resolver
from clarion.model.keys import Key
from clarion.store.database import Row

_SUBSCRIBES = {"opening": "author", "comment": "commented", "review": "reviewed", "review_comment": "reviewed"}
"""Why whoever wrote such a post follows the thread from then on (W9)."""


async def resolve_new_posts(db: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
    """Opened threads, comments, and reviews with their comments as parts (W13)."""
    return {
        event.id: replace(
            _of_post(event, row),
            subscribes_actor=_SUBSCRIBES.get(row["post_kind"]),
            parts=tuple(Part(part["post"], part["text"], "review_comment") for part in row["comments"] or ()),
        )
        for event, row in await _read_posts(db, events)
    }


async def resolve_recorded_posts(db: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
    """Posts that were there before Clarion was: without their text, since nobody named in it hears now."""
    return {
        event.id: replace(_of_post(event, row), text="", subscribes_actor=_SUBSCRIBES.get(row["post_kind"]))
        for event, row in await _read_posts(db, events)
    }


async def resolve_edited_posts(db: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
    """Edited threads, comments and reviews, with their text as it is now (W12)."""
    return {event.id: _of_post(event, row) for event, row in await _read_posts(db, events)}


async def resolve_messages(db: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
    """Messages to those addressed, in a thread without a space (W8); the kind is the host's word."""
    holders = {key: people for key, (_, people) in (await _read_roles(db, events)).items()}
    return {
        event.id: replace(
            _of_post(event, row),
            thread_kind=str(event.keys.get("kind") or row["kind"]),
            addressed=holders[row["key"]]["addressed"],
        )
        for event, row in await _read_posts(db, events)
        if row["key"] in holders
    }


async def resolve_state_changes(db: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
    """Closed, reopened and merged threads that still are so: what was undone meanwhile is not told."""
    states = {"thread.closed": "closed", "thread.reopened": "open", "thread.merged": "merged"}
    return {
        event.id: _of_thread(event, row, event.type.removeprefix("thread."))
        for event, row in await _read_threads(db, events)
        if row["state"] == states[event.type]
    }


async def resolve_housekeeping(db: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
    """Labels, locks and the like (W14)."""
    return {event.id: _of_thread(event, row, "housekeeping") for event, row in await _read_threads(db, events)}


async def resolve_moves(db: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
    """Moved threads, in the space where they are now (W15)."""
    return {event.id: _of_thread(event, row, "moved") for event, row in await _read_threads(db, events)}


async def resolve_assigned(db: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
    """Assignments that still stand; an event of which none does is left out."""
    return {
        event.id: replace(_of_thread(event, row, "assigned"), assigned=standing)
        for event, row, people in await _with_roles(db, events)
        if (standing := _named(event, people["assigned"]))
    }


async def resolve_review_requested(db: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
    """Requests for review that still stand; an event of which none does is left out."""
    return {
        event.id: replace(_of_thread(event, row, "review_requested"), review_requested=standing)
        for event, row, people in await _with_roles(db, events)
        if (standing := _named(event, people["review_requested"]))
    }


async def resolve_withdrawals(db: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
    """Roles taken back: everybody who holds one now, so that what others were told can be taken back."""
    return {
        event.id: replace(
            _of_thread(event, row, event.type.removeprefix("thread.")),
            assigned=people["assigned"],
            review_requested=people["review_requested"],
        )
        for event, row, people in await _with_roles(db, events)
    }


RESOLVERS: Mapping[str, Resolver] = {
    "thread.opened": resolve_new_posts,
    "thread.closed": resolve_state_changes,
    "thread.reopened": resolve_state_changes,
    "thread.merged": resolve_state_changes,
    "thread.assigned": resolve_assigned,
    "thread.review_requested": resolve_review_requested,
    "comment.created": resolve_new_posts,
    "review.submitted": resolve_new_posts,
    "message.addressed": resolve_messages,
    "post.recorded": resolve_recorded_posts,
    "thread.edited": resolve_edited_posts,
    "comment.edited": resolve_edited_posts,
    "thread.unassigned": resolve_withdrawals,
    "thread.review_request_removed": resolve_withdrawals,
    "thread.changed": resolve_housekeeping,
    "thread.moved": resolve_moves,
}
"""The resolver of each of our own event types that needs one; a deletion is handled by key (O2)."""

Holders = Mapping[str, tuple[Key, ...]]


async def _read_posts(db: Reading, events: Sequence[Event]) -> Iterator[tuple[Event, Row]]:
    keys = {event.id: _post_key(event) for event in events}
    rows = {row["post"]: row for row in await db.fetch("read_posts", keys=_each(keys.values()))}
    return ((event, rows[key]) for event in events if (key := keys[event.id]) in rows)


async def _read_threads(db: Reading, events: Sequence[Event]) -> Iterator[tuple[Event, Row]]:
    rows = {row["key"]: row for row in await db.fetch("read_threads", keys=_each(e.thread_key for e in events))}
    return ((event, rows[event.thread_key]) for event in events if event.thread_key in rows)


async def _read_roles(db: Reading, events: Sequence[Event]) -> dict[str, tuple[Row, Holders]]:
    """Return each thread's row, and who holds which role in it."""
    threads: dict[str, tuple[Row, dict[str, list[Key]]]] = {}
    for row in await db.fetch("read_roles", keys=_each(event.thread_key for event in events)):
        _, people = threads.setdefault(row["key"], (row, {"assigned": [], "review_requested": [], "addressed": []}))
        if row["person"] is not None:
            people[row["role"]].append(row["person"])
    return {
        key: (row, {role: tuple(persons) for role, persons in people.items()}) for key, (row, people) in threads.items()
    }


async def _with_roles(db: Reading, events: Sequence[Event]) -> Iterator[tuple[Event, Row, Holders]]:
    threads = await _read_roles(db, events)
    return ((event, *threads[event.thread_key]) for event in events if event.thread_key in threads)


def _of_thread(event: Event, row: Row, kind: str) -> Happening:
    return Happening(
        thread=row["key"],
        space=row["space"],
        actor=event.actor,
        title=row["title"],
        link=row["link"],
        kind=kind,
        thread_kind=row["kind"],
    )


def _of_post(event: Event, row: Row) -> Happening:
    return replace(
        _of_thread(event, row, row["post_kind"]),
        post=row["post"],
        actor=row["author"] if event.actor is None else event.actor,
        author=None if event.actor in (None, row["author"]) else row["author"],
        text=row["body"],
        link=row["post_link"] or row["link"],
    )


def _post_key(event: Event) -> str | None:
    """Return the post that the event names; of a thread the opening one."""
    if event.post_key is None and event.thread_key is not None and event.type.startswith("thread."):
        return opening_key(event.thread_key)
    return event.post_key


def _named(event: Event, holders: Sequence[Key]) -> tuple[Key, ...]:
    """Return the holders whom the event names; all of them where it names nobody."""
    people = event.keys.get("people")
    if not isinstance(people, Collection):
        return tuple(holders)
    named = {str(person) for person in people}
    return tuple(person for person in holders if str(person) in named)


def _each(keys: Collection[str | None] | Iterator[str | None]) -> list[str]:
    return sorted({key for key in keys if key is not None})
