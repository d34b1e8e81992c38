"""P6: a backlog of small events, ten recipients each, beside one statement and one commit an event by hand."""

import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

from bench.figures import Figure, Goal, interleave
from bench.ground import Ground, run, tidy
from bench.watching import OpenRelay, WatchedDatabase, counted
from clarion.content import RESOLVERS
from clarion.model.event import Event
from clarion.model.happening import Happening, Reading
from clarion.notifier import Notifier
from clarion.outbox.publish import NewEvent, notify, publish_many
from clarion.store.database import Session

TYPE = "bench.commented"
EVENTS = 2_000
RECIPIENTS = 10
PEOPLE = 2_000
THREADS = 200
ROUNDS = 5

MESSAGE = """
WITH thread AS (
    INSERT INTO clarion.thread (key, kind, title, head) VALUES (%(key)s, 'message', 'A title', 1) RETURNING id
), post AS (
    INSERT INTO clarion.post (thread, position, key, kind, announced)
    SELECT t.id, 1, %(key)s, 'message', true FROM thread t RETURNING id, thread
), row AS (
    INSERT INTO clarion.notification (thread, person, seq, reason, first_unread, last)
    SELECT t.id, s.person, s.version + 1, 'addressed', 1, 1
    FROM thread t CROSS JOIN clarion.inbox_state s WHERE s.person = ANY(%(people)s) ORDER BY s.person
), hit AS (
    INSERT INTO clarion.hit (post, person, kind, thread, position, told_at)
    SELECT p.id, n.person, 'addressed', p.thread, 1, now() FROM post p CROSS JOIN unnest(%(people)s::bigint[]) n(person)
)
UPDATE clarion.inbox_state s SET version = s.version + 1, unread_count = s.unread_count + 1
WHERE s.person = ANY(%(people)s)
"""
COMMENT = """
WITH thread AS (
    UPDATE clarion.thread SET head = head + 1 WHERE id = %(thread)s RETURNING id, head
), post AS (
    INSERT INTO clarion.post (thread, position, key, kind, author, announced)
    SELECT t.id, t.head, %(key)s, 'comment', 0, true FROM thread t
), row AS (
    INSERT INTO clarion.notification AS n (thread, person, seq, reason, bulk, first_unread, last)
    SELECT f.thread, f.person, s.version + 1, 'subscribed', 'subscribed', t.head, t.head
    FROM thread t JOIN clarion.thread_person f ON f.thread = t.id JOIN clarion.inbox_state s USING (person)
    WHERE f.thread = %(thread)s AND f.subscribed ORDER BY f.person
    ON CONFLICT (thread, person) DO UPDATE SET seq = excluded.seq, last = excluded.last, read_at = NULL
    RETURNING person
)
UPDATE clarion.inbox_state s SET version = s.version + 1, unread_count = s.unread_count + 1
FROM row r WHERE s.person = r.person
"""
"""By hand: the same rows, without any rule, lock or outbox."""


async def resolve(_: Reading, events: Sequence[Event]) -> dict[int, Happening]:
    return {
        event.id: Happening(
            thread=event.keys["thread"],
            space=1,
            post=f"comment:{event.id}",
            actor=0,
            title="A title",
            text="Some words.",
        )
        for event in events
    }


async def seed(database: WatchedDatabase) -> None:
    await run(
        database,
        "INSERT INTO clarion.content_space (id, name, visibility) VALUES (1, 'space', 'public')",
        "INSERT INTO clarion.space (id) VALUES (1)",
        "INSERT INTO clarion.person (id, handle, handle_folded)"
        f" SELECT i, 'person' || i, 'person' || i FROM generate_series(0, {PEOPLE}) i",
        "INSERT INTO clarion.inbox_state (person) SELECT id FROM clarion.person ORDER BY id",
        "INSERT INTO clarion.thread (key, space, title)"
        f" SELECT kind || i, 1, 'A title' FROM generate_series(1, {THREADS}) i,"
        " unnest('{ours:,plain:}'::text[]) kind",
        "INSERT INTO clarion.thread_person (thread, person, subscribed, why)"
        f" SELECT t.id, mod(t.id * 37 + i * 101, {PEOPLE}) + 1, true, 'chosen'"
        f" FROM clarion.thread t, generate_series(1, {RECIPIENTS}) i",
    )
    await tidy(database)


class Sides:
    """A backlog told by our relay, and the same told by hand."""

    def __init__(self, database: WatchedDatabase, relay: OpenRelay, plain: Session) -> None:
        self._database = database
        self._relay = relay
        self._plain = plain
        self._random = random.Random(6)  # noqa: S311 - the same people in each run
        self._made = 0

    async def messages(self) -> float:
        async with self._database.session() as session:
            for _ in range(EVENTS):
                await session.run(notify(self._people(), title="A title", link="/x"))
        return await self._relay.settle(EVENTS)

    async def messages_by_hand(self) -> float:
        todo = [{"key": f"plain:message:{self._made + i}", "people": self._people()} for i in range(EVENTS)]
        return await self._by_hand(MESSAGE, todo)

    async def comments(self) -> float:
        async with self._database.session() as session:
            events = [
                NewEvent(type=TYPE, keys={"thread": (key := f"ours:{i % THREADS + 1}")}, thread=key)
                for i in range(EVENTS)
            ]
            await session.run(publish_many(events))
        return await self._relay.settle(EVENTS)

    async def comments_by_hand(self) -> float:
        rows = await self._plain.connection.execute(
            "SELECT id FROM clarion.thread WHERE key LIKE 'plain:%' AND space = 1"
        )
        threads = [row["id"] for row in await rows.fetchall()]
        todo = [{"key": f"plain:comment:{self._made + i}", "thread": threads[i % THREADS]} for i in range(EVENTS)]
        return await self._by_hand(COMMENT, todo)

    async def _by_hand(self, statement: str, todo: Sequence[Mapping[str, Any]]) -> float:
        self._made += len(todo)
        started = time.perf_counter()
        for each in todo:
            await self._plain.connection.execute(statement.encode(), each)
        return time.perf_counter() - started

    def _people(self) -> list[int]:
        return self._random.sample(range(1, PEOPLE + 1), RECIPIENTS)


async def tell_backlog(ground: Ground) -> list[Figure]:
    figures = []
    async with (
        ground.database() as database,
        OpenRelay(database, Notifier({**RESOLVERS, TYPE: resolve}, "bigint")) as relay,
    ):
        await seed(database)
        plain = await database.connect("plain")
        async with plain.connection:
            sides = Sides(database, relay, plain)
            for what, ours, by_hand in (
                ("messages", sides.messages, sides.messages_by_hand),
                ("comments", sides.comments, sides.comments_by_hand),
            ):
                await interleave(1, ours, by_hand)
                pairs = await interleave(ROUNDS, ours, by_hand)
                figures.append(
                    Figure(
                        case="P6",
                        what=f"{what} to {RECIPIENTS} each, from a backlog",
                        unit="events/s",
                        ours=EVENTS / pairs.median(0),
                        baseline=EVENTS / pairs.median(1),
                        ratio=pairs.speed(0, 1),
                        goal=Goal(2.5),
                        more=await counted(database, plain, ours, EVENTS),
                    )
                )
    return figures
