"""What the inbox shows and answers: pages, rows, marks. Pure values."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self

from clarion.model.errors import Invalid
from clarion.model.keys import MAX_BIGINT, Key
from clarion.model.reasons import Reason

MAX_PAGE = 100
"""Rows of a page, and threads of one mark (K2, I3)."""
MAX_POSTS_COUNTED = 1_000
"""A row's unread posts are counted up to here: this many means this many or more."""


class Tab(StrEnum):
    """The lists of an inbox. A row that is hidden is in none of them."""

    UNREAD = "unread"
    """What the badge counts."""
    ALL = "all"
    """Unread and read, whatever is not done."""
    SAVED = "saved"
    SNOOZED = "snoozed"
    DONE = "done"


class WatchLevel(StrEnum):
    """How much of a space somebody wants to hear."""

    ALL = "all"
    """Everything that happens in it (W5)."""
    PARTICIPATING = "participating"
    """What one takes part in or is named in, as if not watching."""
    IGNORE = "ignore"
    """Nothing, not even when mentioned (W7)."""


@dataclass(frozen=True, slots=True)
class Marked:
    """What a mark or a choice did, and the inbox after it: absolute numbers, never a difference (I6)."""

    changed: int
    """Rows that are another way than before; 0 where all of it was so already."""
    version: int
    unread_count: int


@dataclass(frozen=True, slots=True)
class Undo:
    """What takes a mark-all back: the watermark before it, and the one that it set."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class MarkedAll:
    """What a mark-all did, and how to take it back (I4)."""

    marked: Marked
    undo: Undo


MAX_DIGITS = 19
"""Those of the largest bigint; a longer number is not even looked at."""


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """A place in a list: behind the row with this sequence number and thread."""

    seq: int
    thread: int

    def __str__(self) -> str:
        return f"{self.seq}.{self.thread}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the cursor that was written as text. Raises: `Invalid`."""
        seq, dot, thread = text.partition(".")
        if dot and all(part.isascii() and part.isdecimal() and len(part) <= MAX_DIGITS for part in (seq, thread)):
            cursor = cls(int(seq), int(thread))
            if max(cursor.seq, cursor.thread) <= MAX_BIGINT:
                return cursor
        raise Invalid(f"{text[:50]!r} is no cursor: give back the `next` of the page before")


TOP = Cursor(MAX_BIGINT, MAX_BIGINT)
"""Before the newest row of every list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One notification as its person may see it now.

    A placeholder stands for a thing that may not be read any more and is not hidden yet: it keeps its
    number, reason and marks, says nothing of the thing, counts, and can be dismissed (I7).
    """

    thread: int
    """The row's number: what marks take."""
    key: str | None
    """The thread's key, the host's own."""
    space: Key | None
    thread_kind: str | None
    title: str | None
    link: str | None
    reason: Reason
    """The strongest of what is unread (W11)."""
    latest_kind: str | None
    """The kind of the latest post that the person may see."""
    actor: Key | None
    """Who wrote it."""
    actor_handle: str | None
    first_unread: str | None
    """The key of the first unread post."""
    posts_unread: int
    """At most `MAX_POSTS_COUNTED`."""
    seq: int
    active_at: datetime
    unread: bool
    saved: bool
    done: bool
    snoozed_until: datetime | None
    subscribed: bool
    placeholder: bool


@dataclass(frozen=True, slots=True)
class InboxState:
    """A person's version, badge and its colour, read without counting."""

    version: int
    unread_count: int
    unseen: bool
    """Whether anything unread came since the panel was last opened: the badge's colour (I1)."""


@dataclass(frozen=True, slots=True)
class Page:
    """Rows, newest activity first, and the inbox in the same moment.

    A page with a filter may hold fewer rows than asked for, even none, while `next` is set: so much was
    looked through for one request. The list ends where `next` is None. `state.version` is the cutoff for
    a mark-all of what was shown (I4).
    """

    rows: tuple[Row, ...]
    next: Cursor | None
    state: InboxState


@dataclass(frozen=True, slots=True)
class Verified:
    """One person's badge, told three ways (C3)."""

    stored: int
    counted: int
    """Every row of the person's, asked one by one."""
    listed: int
    """The length of the unread list."""

    @property
    def agrees(self) -> bool:
        """Whether the three are one number."""
        return self.stored == self.counted == self.listed
