"""Happenings: what a resolver says of an event, read from the rows as they are (O2)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from clarion.model.event import Event
from clarion.model.keys import Key


@dataclass(frozen=True, slots=True)
class Part:
    """One post of a happening: a review's comment takes a position of its own (W13)."""

    post: str
    text: str = ""
    kind: str = "comment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """What happened, where, by whom, in which words.

    `thread` and `post` are the host's keys as text; without `post` the event's own id names it. A
    thread without a `space` is read by those addressed alone (W8).
    """

    thread: str
    space: Key | None = None
    post: str | None = None
    actor: Key | None = None
    author: Key | None = None
    """Who wrote the post, where that may be another than who acted, as when a moderator edits it."""
    title: str = ""
    text: str = ""
    link: str = ""
    kind: str = "comment"
    thread_kind: str = "thread"
    parts: tuple[Part, ...] = ()
    assigned: tuple[Key, ...] = ()
    review_requested: tuple[Key, ...] = ()
    addressed: tuple[Key, ...] = ()
    subscribes_actor: str | None = None
    """`author`, `commented` or `reviewed`: why the actor follows the thread from now on (W9)."""

    def all_parts(self, event_id: int) -> tuple[Part, ...]:
        """Return the posts of this happening, the main one first."""
        return (Part(self.post or f"event:{event_id}", self.text, self.kind), *self.parts)


class Reading(Protocol):
    """The read-only connection that a resolver is given. It never commits."""

    async def fetch(self, name: str, /, **params: Any) -> list[dict[str, Any]]:
        """Return the rows of a named query."""
        ...


Resolver = Callable[[Reading, Sequence[Event]], Awaitable[Mapping[int, Happening]]]
"""Returns a happening for each event that there still is something to say of; one left out is skipped."""
