"""How the oracle replays what people do in their inboxes: marks, reading, choices (I, W5 to W10)."""

from collections.abc import Callable
from datetime import datetime

from support.model_content import ContentCommands
from support.model_facts import Event, Follow, Row, Thread


class Oracle(ContentCommands):
    """The whole model."""

    def row_of(self, person: int, thread: str) -> Row | None:
        """A row that the person can mark."""
        row = self.threads[thread].rows.get(person)
        return row if row and not row.hidden else None

    def unread(self, person: int) -> list[str]:
        """The unread list, by keys of threads, in no order."""
        return [
            key
            for key, thread in self.threads.items()
            if person in thread.rows and self.is_unread(person, thread.rows[person])
        ]

    # Marks

    def mark_read(self, person: int, thread: str) -> None:
        row = self.row_of(person, thread)
        if row and not row.read and (row.snoozed or self.is_unread(person, row)):
            row.read, row.unread_seq = True, 0
            self.touch(person)

    def mark_unread(self, person: int, thread: str) -> None:
        row = self.row_of(person, thread)
        if row and not self.is_unread(person, row):
            row.read, row.done, row.snoozed = False, False, None
            row.unread_seq = self.next_version(person)
            self.touch(person)

    def mark_done(self, person: int, thread: str) -> None:
        row = self.row_of(person, thread)
        if row and not row.done:
            row.done, row.read, row.unread_seq, row.snoozed = True, True, 0, None
            self.touch(person)

    def mark_not_done(self, person: int, thread: str) -> None:
        row = self.row_of(person, thread)
        if row and row.done:
            row.done = False
            self.touch(person)

    def save(self, person: int, thread: str) -> None:
        row = self.row_of(person, thread)
        if row and not row.saved:
            row.saved = True
            self.touch(person)

    def unsave(self, person: int, thread: str) -> None:
        row = self.row_of(person, thread)
        if row and row.saved:
            row.saved = False
            if not self.stands(person, self.threads[thread], row):
                del self.threads[thread].rows[person]
            self.touch(person)

    def snooze(self, person: int, thread: str, until: datetime | None) -> None:
        row = self.row_of(person, thread)
        if row and row.snoozed != until:
            row.snoozed = until
            self.touch(person)
            if until:
                self.publish(Event("snooze.ended", thread=thread, person=person))

    def mark_all(self, person: int, cutoff: int) -> tuple[int, int]:
        """Returns how to take it back."""
        state = self.people[person]
        before = state.read_seq
        counted = [row for row in self._unread_rows(person) if max(row.seq, row.unread_seq) <= cutoff]
        if before >= cutoff or not counted:
            return (before, before)
        state.read_seq = cutoff
        self.touch(person)
        return (before, cutoff)

    def undo(self, person: int, before: int, after: int) -> None:
        state = self.people[person]
        if before != after and state.read_seq == after:
            state.read_seq = before
            self.touch(person)

    def mark_space(self, person: int, space: int, cutoff: int) -> None:
        for key in self.unread(person):
            row = self.threads[key].rows[person]
            if self.threads[key].space == space and max(row.seq, row.unread_seq) <= cutoff:
                self.mark_read(person, key)

    def mark_seen(self, person: int, shown: int) -> None:
        state = self.people[person]
        seqs = [thread.rows[person].seq for thread in self.threads.values() if person in thread.rows]
        if any(state.seen_seq < seq <= shown for seq in seqs):
            state.seen_seq = shown
            self.touch(person)

    def _unread_rows(self, person: int) -> list[Row]:
        return [self.threads[key].rows[person] for key in self.unread(person)]

    # Reading the thing itself (I5)

    def read_thread(self, person: int, thread: str) -> None:
        self._read_ahead(person, lambda _, event: event.thread == thread)
        if known := self.threads.get(thread):
            self._read_up_to(person, known, len(known.posts))

    def read_post(self, person: int, post: str) -> None:
        thread = self.posts[post].thread
        known = self.threads.get(thread)
        has_place = known is not None and post in known.posts
        first = min((id_ for id_ in self.waiting if self.events[id_].post == post), default=0)
        self._read_ahead(
            person,
            lambda id_, event: event.thread == thread and (event.post == post or (not has_place and id_ < first)),
        )
        if known and has_place:
            self._read_up_to(person, known, known.posts[post].position)

    def _read_ahead(self, person: int, means: Callable[[int, Event], bool]) -> None:
        for id_ in self.waiting:
            event = self.events[id_]
            if event.type != "snooze.ended" and means(id_, event):
                self.read_ahead.add((id_, person))

    def _read_up_to(self, person: int, thread: Thread, position: int) -> None:
        thread.follows.setdefault(person, Follow())
        row = self.row_of(person, thread.key)
        if row is None or row.first > position or row.read or not (row.snoozed or self.is_unread(person, row)):
            return
        if any(post.position > position for post in self.shown(person, thread, row)):
            row.first = position + 1
        else:
            row.read, row.unread_seq = True, 0
        self.touch(person)
        self.settle(thread, person)

    # Choices

    def subscribe(self, person: int, thread: str) -> bool:
        """Returns whether the person may read the thread."""
        known = self.threads[thread]
        if not self.may_read(person, known):
            return False
        follow = known.follows.setdefault(person, Follow())
        if not follow.subscribed:
            why = "author" if follow.why == "author" else "chosen"
            follow.subscribed, follow.why, follow.unsubscribed = True, why, False
            self.touch(person)
        return True

    def unsubscribe(self, person: int, thread: str) -> bool:
        """Returns whether the person ever had to do with the thread, or may read it."""
        known = self.threads[thread]
        hit = any(whom == person for _, whom, _ in known.hits)
        if not (self.may_read(person, known) or hit or person in known.follows or person in known.rows):
            return False
        follow = known.follows.setdefault(person, Follow())
        if not follow.unsubscribed:
            follow.subscribed, follow.unsubscribed = False, True
            self.touch(person)
        return True

    def watch(self, person: int, space: int, level: str | None) -> bool:
        """Returns whether the person may read the space."""
        if level and not self.reads(person, space):
            return False
        if self.watches.get((space, person)) != level:
            if level:
                self.watches[(space, person)] = level
            else:
                del self.watches[(space, person)]
            self.touch(person)
        return True

    def choose(self, person: int, *, own: bool, housekeeping: bool) -> None:
        state = self.people[person]
        if (state.own, state.housekeeping) != (own, housekeeping):
            state.own, state.housekeeping = own, housekeeping
            self.touch(person)

    def block(self, person: int, other: int, *, on: bool) -> None:
        if ((person, other) in self.blocks) == on:
            return
        (self.blocks.add if on else self.blocks.remove)((person, other))
        self.touch(person)
        for one, two in ((person, other), (other, person)):
            for thread in self.threads.values():
                posted = any(post.author == two for post in thread.posts.values())
                named = any(whom == one and hit.author == two for (_, whom, _), hit in thread.hits.items())
                if posted or named:
                    self.look_again(thread, one)

    def mute(self, person: int, other: int, *, on: bool) -> None:
        if ((person, other) in self.mutes) == on:
            return
        if on:
            self.mutes[(person, other)] = self.now
        else:
            del self.mutes[(person, other)]
        self.touch(person)
