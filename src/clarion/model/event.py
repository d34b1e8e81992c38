"""Events: what the outbox says happened, and what each type of them does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from clarion.model.keys import Key

MAX_ATTEMPTS = 5
"""An event is set aside after this many (O6; the source's five)."""


class Effect(Enum):
    """What an event does to inboxes. A type is a row in a table, not a branch in the code."""

    POST = "post"
    """Something new in a thread: it takes a position and is told to the followers."""
    ASK = "ask"
    """An assignment, a request for review: told to those named alone."""
    EDIT = "edit"
    """A text changed: whom it names now and did not before hears (W12)."""
    RECORD = "record"
    """What was there before Clarion was: its author follows it, nobody hears (W9)."""
    HOUSEKEEPING = "housekeeping"
    """Labels, locks: told only to those who opted in (W14)."""
    WITHDRAW = "withdraw"
    """An assignment or a request was taken back: what is unread of it goes."""
    DELETE = "delete"
    """A post or a whole thread is gone, named by key (O2)."""
    MOVE = "move"
    """A thread is in another space now (W15)."""
    ACCESS = "access"
    """Who may read a space changed for many people (W15, W18)."""
    WAKE = "wake"
    """A snooze ends (O10)."""


OWN_TYPES: Mapping[str, Effect] = {
    "thread.opened": Effect.POST,
    "thread.closed": Effect.POST,
    "thread.reopened": Effect.POST,
    "thread.merged": Effect.POST,
    "thread.assigned": Effect.ASK,
    "thread.review_requested": Effect.ASK,
    "comment.created": Effect.POST,
    "review.submitted": Effect.POST,
    "message.addressed": Effect.POST,
    "post.recorded": Effect.RECORD,
    "thread.edited": Effect.EDIT,
    "comment.edited": Effect.EDIT,
    "thread.unassigned": Effect.WITHDRAW,
    "thread.review_request_removed": Effect.WITHDRAW,
    "thread.changed": Effect.HOUSEKEEPING,
    "thread.moved": Effect.MOVE,
    "thread.deleted": Effect.DELETE,
    "comment.deleted": Effect.DELETE,
    "access.changed": Effect.ACCESS,
    "snooze.ended": Effect.WAKE,
}
"""The event types of Clarion's own content and rooms."""


def effect_of(event_type: str) -> Effect:
    """Return what a type does: ours by the table, a host's by its last word (`edited`, `deleted`, else a post)."""
    if effect := OWN_TYPES.get(event_type):
        return effect
    match event_type.rsplit(".", 1)[-1]:
        case "edited" | "updated":
            return Effect.EDIT
        case "deleted":
            return Effect.DELETE
        case "moved":
            return Effect.MOVE
        case _:
            return Effect.POST


@dataclass(frozen=True, slots=True)
class Event:
    """A claimed row of the outbox."""

    id: int
    type: str
    actor: Key | None
    thread_key: str | None
    post_key: str | None
    space: Key | None
    keys: Mapping[str, Any]
    created_at: datetime
    attempts: int = 0
    alone: bool = False
    cursor: Key | None = None

    @property
    def effect(self) -> Effect:
        """What this event does."""
        return effect_of(self.type)


@dataclass(frozen=True, slots=True)
class Done:
    """The event did its work."""

    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """There was nothing left to do, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Later:
    """Not now, through no fault of the event's: its thread is busy, or a deadlock was met. No attempt."""

    seconds: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Continued:
    """A chunk is written; the event stays claimable and goes on after this person (O4)."""

    cursor: Key


Outcome = Done | Skipped | Later | Continued


@dataclass(frozen=True, slots=True)
class Handled:
    """What a consumer did with the events it was handed; those it does not name stay as they are."""

    outcomes: Mapping[int, Outcome]
    notified: Mapping[str, int] = field(default_factory=dict)
    """Notifications written, by reason."""
