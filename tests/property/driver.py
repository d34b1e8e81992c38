"""The product beside its oracle: commands and relays run on both, and both are compared after each step."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any, Self, TypeVar

import psycopg
from psycopg.rows import dict_row

from clarion.inbox.listing import list_rows
from clarion.model.inbox import Marked
from clarion.store.database import Command, Database, Session
from clarion.work.relay import Relay
from property.audit import BUMPED, EMPTY, HANDLED, LAST_DUE, PLACES, PUBLISHED, SHOWN, START, install, turn_clock
from support.barriers import At, Died, make_relay, nothing, wait_until
from support.model_facts import Event, Person, Space, Step
from support.model_inbox import Oracle

T = TypeVar("T")

PEOPLE = {1: "ada", 2: "bo", 3: "chi", 4: "dara", 5: "emil"}
HARBOR, VAULT = 10, 20
"""A public space, and a private one that Ada, Bo and a team may read."""


MOST_TURNS = 500
"""Of a relay, before what waits must have been handled or set aside."""


class Connections:
    """A relay's two connections in an event loop of their own."""

    def __init__(self, url: str) -> None:
        self.runner = asyncio.Runner()
        self.database, self.main, self.notes = self.runner.run(self._connect(url))

    async def _connect(self, url: str) -> tuple[Database, Session, Session]:
        database = Database(url)
        main = await database.connect("relay", autocommit=False, plan_cache_mode="force_custom_plan")
        return database, main, await database.connect("relay notes")

    def turn(self, relay: Relay) -> int:
        """Let a relay handle one batch; one that dies has moved nothing that it knows of."""

        async def turn() -> int:
            try:
                return await relay.turn(self.main, self.notes)
            except Died:
                return 0

        return self.runner.run(turn())

    def close(self) -> None:
        self.runner.run(self.main.connection.close())
        self.runner.run(self.notes.connection.close())
        self.runner.close()


class Driver:
    """One database for all examples of a test: emptied before each."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.look = psycopg.connect(url, autocommit=True, row_factory=dict_row)
        install(self.look)
        self.first = Connections(url)
        self.thread = ThreadPoolExecutor(1)
        self.second = self.thread.submit(Connections, url).result()
        self.now = START
        self.oracle = Oracle(START)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.thread.submit(self.second.close).result()
        self.thread.shutdown()
        self.first.close()
        self.look.close()

    def start(self) -> None:
        """Empty everything, and make people and places on both sides."""
        self.look.execute(EMPTY.encode())
        turn_clock(self.look, START)
        self.now = START
        self.oracle = oracle = Oracle(START)
        self.handled, self.event = 0, 0
        oracle.people = {number: Person(handle) for number, handle in PEOPLE.items()}
        oracle.spaces = {HARBOR: Space("public"), VAULT: Space("private", {1, 2}, open_to_team=True)}
        oracle.organisation, oracle.team = {1, 2, 3}, {2, 3}
        self.look.execute(PLACES.encode())

    # Commands

    def do(self, command: Command[T], replay: Callable[[], object]) -> T:
        """Run a command, replay it, and compare what was published."""
        self._tick()
        self.oracle.begin(self.now)
        result = self._run(command)
        replay()
        rows = self._published()
        assert [self._event(row) for row in rows] == self.oracle.published
        self.oracle.published = []
        self._take_in(rows)
        return result

    def mark(self, person: int, command: Command[Marked], replay: Callable[[], object]) -> None:
        """Run a person's change; it answers with the badge and the version that it made (I6)."""
        answer = self.do(command, replay)
        state = self.oracle.people[person]
        assert (answer.version, answer.unread_count) == (state.version, len(self.oracle.unread(person)))

    def attempt(
        self, person: int, command: Command[Marked], replay: Callable[[], bool], error: type[Exception]
    ) -> None:
        """Run a person's change that may be refused: the oracle says whether."""
        self._tick()
        self.oracle.begin(self.now)
        if not replay():
            self.refused(command, error)
        else:
            self.mark(person, command, lambda: None)

    def number(self, thread: str) -> int:
        """Clarion's own number of a thread."""
        rows = self.look.execute("SELECT id FROM clarion.thread WHERE key = %s", [thread]).fetchall()
        return int(rows[0]["id"])

    def undone(self, command: Command[Any]) -> None:
        """Run a command and roll it back: nothing happened (O1)."""
        self._tick()
        self._run(command, undo=True)

    def refused(self, command: Command[Any], error: type[Exception]) -> None:
        """Run a command that must be refused and change nothing."""
        self._tick()
        try:
            self._run(command)
        except error:
            return
        raise AssertionError(f"{error.__name__} was expected")

    def _run(self, command: Command[T], *, undo: bool = False) -> T:
        async def run() -> T:
            async with self.first.main.connection.transaction(force_rollback=undo):
                return await self.first.main.run(command)

        return self.first.runner.run(run())

    def _tick(self, by: timedelta = timedelta(milliseconds=1)) -> None:
        self.now += by
        turn_clock(self.look, self.now)

    def wait(self, by: timedelta) -> None:
        """Let time pass."""
        self._tick(by)

    # Relays

    def relay(self, *, batch: int, chunk: int, point: str = "", fault: BaseException | None = None) -> int:
        """One turn of one relay, which may meet its end at a point."""
        self._tick()
        barrier = At(point, partial(_throw, fault)) if fault else nothing
        moved = self.first.turn(make_relay(self.first.database, batch=batch, chunk_people=chunk, barrier=barrier))
        self._replay()
        return moved

    def relays(self, *, batch: int, chunk: int, point: str) -> None:
        """Two relays: the second works while the first is stopped at a point, as far as locks let it."""
        self._tick()
        other = make_relay(self.second.database, batch=batch, chunk_people=chunk)
        working = []

        def let_the_other_work() -> None:
            working.append(self.thread.submit(self.second.turn, other))
            wait_until(self.url, working[0].done)

        barrier = At(point, let_the_other_work)
        self.first.turn(make_relay(self.first.database, batch=batch, chunk_people=chunk, barrier=barrier))
        for each in working:
            each.result()
        self._replay()

    def settle(self) -> None:
        """Handle everything that is due or put off; snoozes that are not over stay."""
        relay = make_relay(self.first.database)
        for _ in range(MOST_TURNS):
            self._tick()
            moved = self.first.turn(relay)
            self._replay()
            self.check()
            if not moved:
                (due,) = self.look.execute(LAST_DUE.encode()).fetchall()
                if due["at"] is None:
                    return
                self._tick(max(due["at"] - self.now, timedelta(0)))
        raise AssertionError("the relay turns in circles")

    def _replay(self) -> None:
        """Replay what relays have committed, one transaction after the other."""
        moved = self._published()
        assert {row["type"] for row in moved} <= {"thread.moved"}
        self._take_in(moved)
        for row in moved:
            self.oracle.follow(row["thread_key"])
        rows = self.look.execute(HANDLED.encode(), [self.handled]).fetchall()
        for tx in dict.fromkeys(row["tx"] for row in rows):
            steps = [_step(row) for row in rows if row["tx"] == tx]
            self.oracle.begin(self.now)
            self.oracle.handle(steps)
            bumped = self.look.execute(BUMPED.encode(), [tx]).fetchall()
            told = {(row["key"], row["person"]): row["times"] for row in bumped}
            must = dict.fromkeys(self.oracle.bumped, 1)
            assert told == must, f"told in one transaction: {told}, not {must}, of {self._named(steps)}"
        self.handled = rows[-1]["id"] if rows else self.handled

    def _named(self, steps: Sequence[Step]) -> list[tuple[Step, Event]]:
        return [(step, self.oracle.events[step.event]) for step in steps]

    # What both sides say

    def check(self) -> None:
        """Rows, badges, versions: the product's and the oracle's are the same."""
        oracle = self.oracle
        rows = self.look.execute(SHOWN.encode()).fetchall()
        shown = {(row.pop("key"), row.pop("person")): tuple(row.values()) for row in rows}
        expected = {
            (key, person): (row.seq, row.reason, oracle.is_unread(person, row), *row.marks())
            for key, thread in oracle.threads.items()
            for person, row in thread.rows.items()
        }
        _compare("rows (seq, reason, unread, read, done, saved, snoozed, hidden)", shown, expected)
        states = self.look.execute(
            "SELECT person, version, unread_count, read_seq, seen_seq FROM clarion.inbox_state"
        ).fetchall()
        inboxes = {row.pop("person"): tuple(row.values()) for row in states}
        must = {
            number: (state.version, len(oracle.unread(number)), state.read_seq, state.seen_seq)
            for number, state in oracle.people.items()
        }
        _compare("inboxes (version, badge, watermark, seen)", dict.fromkeys(must, (0, 0, 0, 0)) | inboxes, must)

    def check_lists(self) -> None:
        """The unread list, asked as a door asks it: as long as the badge, in order, posts counted (I2, W11)."""
        for person in self.oracle.people:
            page = self._run(list_rows(person))
            expected = [(self.oracle.threads[key].rows[person].seq, key) for key in self.oracle.unread(person)]
            assert len(page.rows) == page.state.unread_count == len(expected)
            assert sorted((row.seq, row.key or "?") for row in page.rows) == sorted(expected)
            assert [row.seq for row in page.rows] == sorted((row.seq for row in page.rows), reverse=True)
            for row in page.rows:
                thread = self.oracle.threads[row.key or ""]
                shown = [post.key for post in self.oracle.shown(person, thread, thread.rows[person])]
                said = (row.posts_unread, row.first_unread)
                assert said == (len(shown), next(iter(shown), None)), f"{person} has {row}, and it stands for {shown}"

    def _published(self) -> list[dict[str, Any]]:
        return self.look.execute(PUBLISHED.encode(), [self.event]).fetchall()

    def _take_in(self, rows: Sequence[dict[str, Any]]) -> None:
        for row in rows:
            self.oracle.events[row["id"]] = self._event(row)
            self.oracle.waiting.add(row["id"])
            self.event = row["id"]

    def _event(self, row: dict[str, Any]) -> Event:
        keys = row["keys"]
        return Event(
            row["type"],
            row["actor"],
            row["thread_key"],
            row["post_key"],
            row["space"],
            tuple(int(person) for person in keys.get("people", ())),
            int(keys["person"]) if "person" in keys else None,
            row["created_at"],
        )


def _step(row: dict[str, Any]) -> Step:
    assert row["state"] in {"waiting", "done", "skipped"}, row
    outcome = row["outcome"] or ""
    told_with = int(outcome.rsplit(" ", 1)[1]) if outcome.startswith("told with event") else None
    return Step(row["event"], row["after"], row["upto"] if row["state"] == "waiting" else None, told_with)


def _compare(what: str, found: dict[Any, Any], must: dict[Any, Any]) -> None:
    other = {key: (found.get(key), must.get(key)) for key in found | must if found.get(key) != must.get(key)}
    assert not other, f"{what}, and what they must be: {other}"


def _throw(fault: BaseException | None) -> None:
    assert fault is not None
    raise fault
