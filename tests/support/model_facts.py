"""What the oracle keeps: plain values, of the host's content and of what Clarion knows."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

REASONS = (
    "assigned", "review_requested", "mentioned", "addressed", "team_mentioned", "author", "subscribed", "watching",
)  # fmt: skip
DIRECT = frozenset(REASONS[:4])


def strongest(reasons: Iterable[str | None]) -> str | None:
    """The strongest of some reasons."""
    return min((reason for reason in reasons if reason), key=REASONS.index, default=None)


@dataclass(frozen=True)
class Text:
    """A text by whom it names; what stands in code names nobody."""

    handles: tuple[str, ...] = ()
    team: bool = False
    in_code: tuple[str, ...] = ()
    salt: int = 0

    def __str__(self) -> str:
        words = [f"@{handle}" for handle in self.handles]
        words += ["@lumen/crew"] if self.team else []
        words += [f"`@{handle}`" for handle in self.in_code]
        return " ".join(["text", str(self.salt), *words])


@dataclass
class Person:
    handle: str
    active: bool = True
    own: bool = False
    housekeeping: bool = False
    version: int = 0
    raised_in: int = -1
    read_seq: int = 0
    seen_seq: int = 0


@dataclass
class Space:
    visibility: str
    members: set[int] = field(default_factory=set)
    open_to_team: bool = False


@dataclass
class Content:
    """A thread of the host's content."""

    key: str
    space: int | None
    author: int | None
    state: str = "open"
    deleted: bool = False
    roles: set[tuple[str, int]] = field(default_factory=set)


@dataclass
class Written:
    """A post of the host's content."""

    thread: str
    kind: str
    author: int | None
    text: Text
    part_of: str | None = None
    deleted: bool = False


@dataclass(frozen=True)
class Event:
    type: str
    actor: int | None = None
    thread: str | None = None
    post: str | None = None
    space: int | None = None
    people: tuple[int, ...] = ()
    person: int | None = None
    at: datetime | None = field(default=None, compare=False)
    """When it was published."""


@dataclass(frozen=True)
class Step:
    """What one transaction of a relay did with one event: for whom, from behind a person up to one."""

    event: int
    after: int | None
    upto: int | None
    told_with: int | None = None

    def concerns(self, person: int) -> bool:
        return (self.after is None or person > self.after) and (self.upto is None or person <= self.upto)


@dataclass
class Post:
    """A happening with its position in the thread."""

    key: str
    position: int
    kind: str
    author: int | None
    at: datetime
    gone: bool = False
    announced: bool = False


@dataclass
class Hit:
    author: int | None
    told: bool
    hidden: bool
    removed: bool = False


@dataclass
class Follow:
    subscribed: bool = False
    why: str = ""
    since: int = 0
    unsubscribed: bool = False


@dataclass
class Row:
    """One person's notification of one thread."""

    seq: int
    reason: str
    bulk: str | None
    first: int
    last: int
    unread_seq: int = 0
    read: bool = False
    done: bool = False
    saved: bool = False
    snoozed: datetime | None = None
    hidden: bool = False

    def marks(self) -> tuple[bool, bool, bool, datetime | None, bool]:
        return self.read, self.done, self.saved, self.snoozed, self.hidden


@dataclass
class Thread:
    """What Clarion knows of a thread: made when its first event is handled."""

    key: str
    space: int | None
    posts: dict[str, Post] = field(default_factory=dict)
    hits: dict[tuple[str, int, str], Hit] = field(default_factory=dict)
    follows: dict[int, Follow] = field(default_factory=dict)
    rows: dict[int, Row] = field(default_factory=dict)
