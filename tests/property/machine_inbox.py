"""The machine's people: marks, reading, choices."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from clarion.inbox import choices, mark_all, marks, reading
from clarion.model.errors import NotFound
from clarion.model.inbox import Undo, WatchLevel
from property.machine import Machine, pairs, people, spaces

is_known = precondition(lambda self: bool(self.known()))
MARKS = ("read", "unread", "done", "not_done", "save", "unsave", "unsnooze")


class MarkRules(Machine):
    """What people do with their rows."""

    def rows(self) -> list[tuple[int, str]]:
        return [(person, key) for key, thread in self.oracle.threads.items() for person in sorted(thread.rows)]

    @precondition(lambda self: bool(self.rows()))
    @rule(data=st.data(), mark=st.sampled_from(MARKS))
    def mark(self, data: Any, mark: str) -> None:
        person, key = data.draw(st.sampled_from(self.rows()[::-1]))
        replays: dict[str, Callable[[int, str], None]] = {
            "read": self.oracle.mark_read,
            "unread": self.oracle.mark_unread,
            "done": self.oracle.mark_done,
            "not_done": self.oracle.mark_not_done,
            "save": self.oracle.save,
            "unsave": self.oracle.unsave,
            "unsnooze": lambda person, key: self.oracle.snooze(person, key, None),
        }
        command = getattr(marks, mark)(person, [self.driver.number(key)])
        self.driver.mark(person, command, lambda: replays[mark](person, key))

    @precondition(lambda self: bool(self.rows()))
    @rule(data=st.data(), seconds=st.integers(1, 3))
    def snooze(self, data: Any, seconds: int) -> None:
        person, key = data.draw(st.sampled_from(self.rows()[::-1]))
        until = self.driver.now + timedelta(seconds=seconds)
        command = marks.snooze(person, [self.driver.number(key)], until)
        self.driver.mark(person, command, lambda: self.oracle.snooze(person, key, until))

    @rule(person=people, back=st.integers(0, 3), undo=st.booleans())
    def mark_all(self, person: int, back: int, undo: bool) -> None:
        cutoff = max(0, self.oracle.people[person].version - back)
        answer = self.driver.do(mark_all.mark_all(person, cutoff), lambda: self.oracle.mark_all(person, cutoff))
        if undo:
            self.driver.check()
            self.undo(person, answer.undo)

    def undo(self, person: int, undo: Undo) -> None:
        command = mark_all.undo_mark_all(person, undo)
        self.driver.mark(person, command, lambda: self.oracle.undo(person, undo.before, undo.after))

    @rule(person=people, space=spaces, back=st.integers(0, 2))
    def mark_space(self, person: int, space: int, back: int) -> None:
        cutoff = max(0, self.oracle.people[person].version - back)
        command = mark_all.mark_space(person, space, cutoff)
        self.driver.mark(person, command, lambda: self.oracle.mark_space(person, space, cutoff))

    @rule(person=people)
    def open_the_panel(self, person: int) -> None:
        version = self.oracle.people[person].version
        self.driver.mark(person, mark_all.seen(person, version), lambda: self.oracle.mark_seen(person, version))

    @precondition(lambda self: bool(self.living(in_space=False)))
    @rule(data=st.data(), person=people)
    def read_thread(self, data: Any, person: int) -> None:
        key = self.draw(data, self.living(in_space=False))
        self.driver.mark(person, reading.read_thread(person, key), lambda: self.oracle.read_thread(person, key))

    @precondition(lambda self: bool(self.living(in_space=False)))
    @rule(data=st.data(), person=people)
    def read_post(self, data: Any, person: int) -> None:
        living = self.living(in_space=False)
        key = self.draw(data, [key for key, post in self.oracle.posts.items() if post.thread in living])
        self.driver.mark(person, reading.read_post(person, key), lambda: self.oracle.read_post(person, key))


class ChoiceRules(Machine):
    """What people choose to hear."""

    @is_known
    @rule(data=st.data(), person=people, on=st.booleans())
    def subscribe(self, data: Any, person: int, on: bool) -> None:
        key = self.draw(data, self.known())
        command = (choices.subscribe if on else choices.unsubscribe)(person, self.driver.number(key))
        replay = self.oracle.subscribe if on else self.oracle.unsubscribe
        self.driver.attempt(person, command, lambda: replay(person, key), NotFound)

    @rule(person=people, space=spaces, level=st.sampled_from([None, *WatchLevel, WatchLevel.ALL]))
    def watch(self, person: int, space: int, level: WatchLevel | None) -> None:
        command = choices.watch(person, space, level) if level else choices.unwatch(person, space)
        self.driver.attempt(person, command, lambda: self.oracle.watch(person, space, level), NotFound)

    @rule(pair=pairs, on=st.sampled_from([True, True, False]))
    def block(self, pair: tuple[int, int], on: bool) -> None:
        command = (choices.block if on else choices.unblock)(*pair)
        self.driver.mark(pair[0], command, lambda: self.oracle.block(*pair, on=on))

    @precondition(lambda self: bool(self.oracle.blocks))
    @rule(data=st.data())
    def unblock(self, data: Any) -> None:
        pair = data.draw(st.sampled_from(sorted(self.oracle.blocks)))
        self.driver.mark(pair[0], choices.unblock(*pair), lambda: self.oracle.block(*pair, on=False))

    @rule(pair=pairs, on=st.booleans())
    def mute(self, pair: tuple[int, int], on: bool) -> None:
        command = (choices.mute if on else choices.unmute)(*pair)
        self.driver.mark(pair[0], command, lambda: self.oracle.mute(*pair, on=on))

    @rule(person=people, own=st.booleans(), housekeeping=st.booleans())
    def choose(self, person: int, own: bool, housekeeping: bool) -> None:
        command = choices.choose(person, own=own, housekeeping=housekeeping)
        self.driver.mark(person, command, lambda: self.oracle.choose(person, own=own, housekeeping=housekeeping))
