"""P7, P8: one event told to many watchers, beside the plain statements that write the same rows."""

import asyncio
import statistics
import time

import structlog
from collections.abc import Sequence

from clarion.model.event import Event
from clarion.model.happening import Happening, Reading
from clarion.notifier import Notifier
from clarion.outbox.publish import NewEvent, publish
from clarion.store.database import Database
from clarion.work.relay import Relay
from clarion.work.wake import Wake

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))

PLAIN = """
INSERT INTO clarion.notification AS n (thread, person, seq, reason, bulk, first_unread, last)
SELECT %(thread)s, w.person, 1, 'watching', 'watching', 1, 1 FROM clarion.watch w WHERE w.space = 1 ORDER BY w.person
ON CONFLICT (thread, person) DO UPDATE SET seq = n.seq + 1, read_at = NULL, last = n.last + 1
"""
PLAIN_STATE = """
UPDATE clarion.inbox_state s SET version = version + 1, unread_count = unread_count + 1
FROM clarion.watch w WHERE w.space = 1 AND s.person = w.person
"""


async def resolve(_: Reading, events: Sequence[Event]) -> dict[int, Happening]:
    return {
        event.id: Happening(thread=event.keys["thread"], space=1, post=f"c:{event.id}", actor=0, title="t", text="")
        for event in events
    }


async def seed(database: Database, people: int) -> None:
    async with database.session() as session:
        for sql in (
            "TRUNCATE clarion.person, clarion.watch, clarion.inbox_state, clarion.content_space, clarion.thread,"
            " clarion.outbox_event CASCADE",
            "INSERT INTO clarion.content_space (id, name, visibility) VALUES (1, 's', 'public')",
            "INSERT INTO clarion.person (id, handle, handle_folded)"
            f" SELECT i, 'p' || i, 'p' || i FROM generate_series(0, {people}) i",
            f"INSERT INTO clarion.watch SELECT 1, i, 'all' FROM generate_series(1, {people}) i",
            "INSERT INTO clarion.inbox_state (person) SELECT id FROM clarion.person",
        ):
            await session.connection.execute(sql)
    async with database.session() as session:
        await session.connection.set_autocommit(True)
        await session.connection.execute("VACUUM ANALYZE")
        await session.connection.set_autocommit(False)


async def plain(database: Database, key: str) -> float:
    async with database.session() as session:
        row = await (
            await session.connection.execute(
                "INSERT INTO clarion.thread (key, title) VALUES (%s, 't') ON CONFLICT (key) DO UPDATE SET title = 't' RETURNING id", [key]
            )
        ).fetchone()
    assert row
    started = time.perf_counter()
    async with database.session() as session:
        await session.connection.execute(PLAIN, {"thread": row["id"]})
        await session.connection.execute(PLAIN_STATE)
    return time.perf_counter() - started


async def ours(database: Database, relay: Relay, thread: str) -> float:
    async with database.session() as session:
        await session.run(publish(NewEvent(type="comment.created", keys={"thread": thread}, thread=thread)))
    started = time.perf_counter()
    await relay.drain()
    return time.perf_counter() - started


async def measure(url: str, people: int, rounds: int) -> dict[str, float]:
    async with Database(url) as database:
        relay = Relay(database, Notifier({"comment.created": resolve}, "bigint"), Wake())
        await seed(database, people)
        fresh: list[float] = []
        again: list[float] = []
        base: list[float] = []
        base_again: list[float] = []
        for i in range(rounds):
            base.append(await plain(database, f"plain{i}"))
            fresh.append(await ours(database, relay, f"ours{i}"))
            base_again.append(await plain(database, f"plain{i}"))
            again.append(await ours(database, relay, f"ours{i}"))
        async with database.session() as session:
            cur = await session.connection.execute("SELECT sum(unread_count) AS n FROM clarion.inbox_state")
            print(await cur.fetchone())
        m = statistics.median
        return {
            "people": people,
            "plain_ms": m(base) * 1000,
            "ours_ms": m(fresh) * 1000,
            "P7": m(base) / m(fresh),
            "plain_again_ms": m(base_again) * 1000,
            "again_ms": m(again) * 1000,
            "P8": m(fresh) / m(again),
        }


if __name__ == "__main__":
    import sys

    for n, r in ((1000, 5), (10000, 5), (100000, 3)):
        print({k: round(v, 2) for k, v in asyncio.run(measure(sys.argv[1], n, r)).items()})
