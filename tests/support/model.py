"""A replaying oracle in plain Python: what everybody's inbox must be after the commands so far (W, I, T, O12).

It shares no SQL with the product. Commands change the content at once and publish events; `Model.handle` replays
what the relays did with them: one transaction after the other, each event by itself, in the order of ids.

What the product decided where the rules leave room, and the model shares:

- An assignment, a request for review and a message take a position of their own and are told to those named alone;
  closing, reopening and merging take one and are told to the followers, if still so when handled.
- A follower hears what comes after the position that subscribed them.
- An edit tells those whom the text names now who have no hit on that post yet, even if they heard of the post as
  followers. A mention taken out lowers, put back it is silent.
- A team mention tells the members but those named directly, and subscribes nobody.
- A row stands for the posts from its first unread to its last that its person may be told of; without a bulk reason
  for those alone that name them. A row that stands for nothing goes, unless saved. A saved one that lost its posts
  stays as read.
- What is hidden is read, and comes back as read.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from support.model_facts import DIRECT, Content, Event, Person, Post, Row, Space, Thread, Written, strongest

HANDLE_KEPT = timedelta(days=30)


class Model:
    """Everything that the rules look at, and how they look at it."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.transaction = 0
        self.people: dict[int, Person] = {}
        self.former: dict[tuple[str, int], datetime] = {}
        self.organisation: set[int] = set()
        self.team: set[int] = set()
        self.spaces: dict[int, Space] = {}
        self.content: dict[str, Content] = {}
        self.posts: dict[str, Written] = {}
        self.blocks: set[tuple[int, int]] = set()
        self.mutes: dict[tuple[int, int], datetime] = {}
        self.watches: dict[tuple[int, int], str] = {}
        self.threads: dict[str, Thread] = {}
        self.published: list[Event] = []
        self.events: dict[int, Event] = {}
        self.waiting: set[int] = set()
        self.cursors: dict[int, int] = {}
        self.read_ahead: set[tuple[int, int]] = set()
        self.told: set[tuple[int, int]] = set()
        self.bumped: set[tuple[str, int]] = set()

    def begin(self, now: datetime) -> None:
        """Another transaction."""
        self.now = now
        self.transaction += 1
        self.bumped = set()

    # What the rules ask

    def reads(self, person: int, space: int) -> bool:
        place = self.spaces[space]
        return (
            place.visibility == "public"
            or person in place.members
            or (place.open_to_team and person in self.team)
            or (place.visibility == "members" and person in self.organisation)
        )

    def may_read(self, person: int, thread: Thread) -> bool:
        if thread.space is None:
            return any(whom == person and not hit.removed for (_, whom, _), hit in thread.hits.items())
        return self.reads(person, thread.space)

    def apart(self, one: int, other: int | None) -> bool:
        return other is not None and ((one, other) in self.blocks or (other, one) in self.blocks)

    def bearer(self, handle: str, written_at: datetime) -> int | None:
        """Whom a handle named when a text was written, as far as that is kept (W17)."""
        since = self.now - HANDLE_KEPT
        kept = sorted((at, who) for (name, who), at in self.former.items() if name == handle and at > since)
        present = [number for number, person in self.people.items() if person.handle == handle]
        then = [who for at, who in kept if at > written_at] + present + [who for _, who in kept[::-1]]
        return then[0] if then else None

    def is_unread(self, person: int, row: Row) -> bool:
        above = max(row.seq, row.unread_seq) > self.people[person].read_seq
        return above and not (row.hidden or row.read or row.done or row.snoozed)

    def shown(self, person: int, thread: Thread, row: Row, *, blocked_too: bool = False) -> Iterator[Post]:
        """The posts that a row stands for."""
        chosen = self.people[person]
        for post in thread.posts.values():
            hits = {
                kind: hit for (key, whom, kind), hit in thread.hits.items()
                if key == post.key and whom == person and not hit.removed
            }  # fmt: skip
            kinds = set(hits)
            by_others = any(hit.author != person for hit in hits.values())
            mute = self.mutes.get((person, post.author or 0))
            if (
                not row.first <= post.position <= row.last
                or post.gone
                or (post.author == person and not chosen.own and not by_others)
                or (self.apart(person, post.author) and not blocked_too)
                or (mute is not None and mute <= post.at and not kinds & DIRECT)
                or ((row.bulk is None or post.kind in {"assigned", "review_requested"}) and not kinds)
                or (post.kind == "housekeeping" and not chosen.housekeeping)
            ):
                continue
            yield post

    def stands(self, person: int, thread: Thread, row: Row) -> bool:
        return any(True for _ in self.shown(person, thread, row))

    # What every change does

    def next_version(self, person: int) -> int:
        state = self.people[person]
        return state.version + (state.raised_in != self.transaction)

    def touch(self, person: int) -> None:
        """Raise the version: by one in a transaction."""
        state = self.people[person]
        state.version, state.raised_in = self.next_version(person), self.transaction

    def publish(self, event: Event) -> None:
        self.published.append(replace(event, at=self.now))

    def settle(self, thread: Thread, person: int) -> None:
        """Look at a row again after something of it went."""
        row = thread.rows.get(person)
        if row is None:
            return
        if not self.stands(person, thread, row):
            if not row.saved:
                del thread.rows[person]
                self.touch(person)
            elif not row.read:
                row.read, row.unread_seq, row.snoozed = True, 0, None
                self.touch(person)
            return
        self._weigh(thread, person, row)

    def _weigh(self, thread: Thread, person: int, row: Row) -> None:
        """Show the strongest reason of what the row stands for."""
        shown = {post.key for post in self.shown(person, thread, row)}
        kinds = [
            kind for (key, whom, kind), hit in thread.hits.items()
            if whom == person and key in shown and not hit.removed and not hit.hidden
        ]  # fmt: skip
        reason = strongest([*kinds, row.bulk]) or row.reason
        if reason != row.reason:
            row.reason = reason
            self.touch(person)

    def look_again(self, thread: Thread, person: int) -> None:
        """Ask whether somebody may see what they have of a thread; nothing else hides or brings back (W15)."""
        may_read = self.may_read(person, thread)
        for (_, whom, _), hit in thread.hits.items():
            if whom == person and hit.hidden != (hide := not may_read or self.apart(person, hit.author)):
                hit.hidden = hide
                self.touch(person)
        row = thread.rows.get(person)
        if row is not None:
            by_block = not self.stands(person, thread, row) and any(
                True for _ in self.shown(person, thread, row, blocked_too=True)
            )
            if row.hidden != (hide := not may_read or by_block):
                row.hidden, row.read, row.unread_seq, row.snoozed = hide, True, 0, None
                self.touch(person)
            if not row.hidden:
                self._weigh(thread, person, row)

    def look_at_space(self, space: int, people: Iterable[int]) -> None:
        for person in people:
            for thread in self.threads.values():
                if thread.space == space:
                    self.look_again(thread, person)
