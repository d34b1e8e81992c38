"""P7, P8: one event told to many watchers, beside the plain statements that write the same rows."""

import time
from collections.abc import Sequence

from bench.figures import Figure, Goal, Pairs, interleave
from bench.ground import Ground, run, tidy
from bench.watching import OpenRelay, WatchedDatabase, counted
from clarion.model.event import Event
from clarion.model.happening import Happening, Reading
from clarion.notifier import Notifier
from clarion.outbox.publish import NewEvent, publish
from clarion.store.database import Session

TYPE = "comment.created"
SIZES = ((1_000, 15), (10_000, 7), (100_000, 3))
"""People, and rounds."""

PLAIN_FRESH = """
INSERT INTO clarion.notification (thread, person, seq, reason, bulk, first_unread, last)
SELECT {thread}, w.person, 1, 'watching', 'watching', 1, 1 FROM clarion.watch w
WHERE w.space = 1 AND w.level = 'all' ORDER BY w.person
"""
PLAIN_AGAIN = """
UPDATE clarion.notification n SET seq = n.seq + 1, read_at = NULL, last = n.last + 1
FROM clarion.watch w WHERE w.space = 1 AND w.level = 'all' AND n.thread = {thread} AND n.person = w.person
"""
PLAIN_STATE = """
UPDATE clarion.inbox_state s SET version = s.version + 1, unread_count = s.unread_count + {more}
FROM clarion.watch w WHERE w.space = 1 AND w.level = 'all' AND s.person = w.person
"""
READ_ALL = "UPDATE clarion.inbox_state SET read_seq = version, unread_count = 0"


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


async def seed(database: WatchedDatabase, people: int) -> None:
    await run(
        database,
        "INSERT INTO clarion.content_space (id, name, visibility) VALUES (1, 'space', 'public')",
        "INSERT INTO clarion.person (id, handle, handle_folded)"
        f" SELECT i, 'person' || i, 'person' || i FROM generate_series(0, {people}) i",
        f"INSERT INTO clarion.watch SELECT 1, i, 'all' FROM generate_series(1, {people}) i",
        "INSERT INTO clarion.inbox_state (person) SELECT id FROM clarion.person ORDER BY id",
    )
    await tidy(database)


class Sides:
    """Both sides; each tells a thread of its own, which `again` bumps."""

    def __init__(self, database: WatchedDatabase, relay: OpenRelay, plain: Session) -> None:
        self._database = database
        self._relay = relay
        self._plain = plain
        self._ours = 0
        self._theirs = 0
        self.hot = self.updated = 0

    async def fresh(self) -> float:
        self._ours += 1
        return await self._tell()

    async def again(self) -> float:
        hot, updated = await self._updates()
        seconds = await self._tell()
        hot_after, updated_after = await self._updates()
        self.hot += hot_after - hot
        self.updated += updated_after - updated
        return seconds

    async def plain_fresh(self) -> float:
        self._theirs += 1
        await run(self._database, f"INSERT INTO clarion.thread (key, title) VALUES ('plain:{self._theirs}', 'A title')")
        return await self._write(PLAIN_FRESH, more=1)

    async def plain_again(self) -> float:
        return await self._write(PLAIN_AGAIN, more=1)

    async def _tell(self) -> float:
        key = f"ours:{self._ours}"
        async with self._database.session() as session:
            await session.run(publish(NewEvent(type=TYPE, keys={"thread": key}, thread=key)))
        return await self._relay.settle(1)

    async def _write(self, rows: str, *, more: int) -> float:
        thread = f"(SELECT id FROM clarion.thread WHERE key = 'plain:{self._theirs}')"
        started = time.perf_counter()
        async with self._plain.transaction():
            await self._plain.connection.execute(rows.format(thread=thread).encode())
            await self._plain.connection.execute(PLAIN_STATE.format(more=more).encode())
        return time.perf_counter() - started

    async def _updates(self) -> tuple[int, int]:
        """Return the HOT updates of inbox_state and all of them, everybody's counted in."""
        for session in (self._relay.main, self._plain):
            async with session.transaction():
                await session.connection.execute("SELECT pg_stat_force_next_flush()")
        cursor = await self._plain.connection.execute(
            "SELECT n_tup_hot_upd AS hot, n_tup_upd AS updated FROM pg_stat_all_tables"
            " WHERE relid = 'clarion.inbox_state'::regclass"
        )
        (row,) = await cursor.fetchall()
        return row["hot"], row["updated"]


async def fan_out(ground: Ground) -> list[Figure]:
    figures: list[Figure] = []
    for people, rounds in SIZES:
        async with (
            ground.database() as database,
            OpenRelay(database, Notifier({TYPE: resolve}, "bigint")) as relay,
        ):
            await seed(database, people)
            plain = await database.connect("plain")
            async with plain.connection:
                figures += await measure(database, Sides(database, relay, plain), plain, people, rounds)
    return figures


async def measure(database: WatchedDatabase, sides: Sides, plain: Session, people: int, rounds: int) -> list[Figure]:
    await interleave(1, sides.fresh, sides.plain_fresh)
    fresh, again = Pairs([[], []]), Pairs([[], []])
    for number in range(rounds):
        fresh += await interleave(1, sides.fresh, sides.plain_fresh, first=number)
        await run(database, f"{READ_ALL}; SELECT pg_stat_force_next_flush()")
        again += await interleave(1, sides.again, sides.plain_again, first=number)
    beside_fresh = Pairs([again.sides[0], fresh.sides[0]])
    counted_fresh = await counted(database, plain, sides.fresh)
    counted_again = await counted(database, plain, sides.again)
    return [
        Figure(
            case="P7",
            what=f"fan-out to {people:,}, fresh",
            unit="rows/s",
            ours=people / fresh.median(0),
            baseline=people / fresh.median(1),
            ratio=fresh.speed(0, 1),
            goal=Goal(0.70),
            more={"people": people, **counted_fresh},
        ),
        Figure(
            case="P8",
            what=f"fan-out to {people:,}, again beside fresh",
            unit="rows/s",
            ours=people / again.median(0),
            baseline=people / fresh.median(0),
            ratio=beside_fresh.speed(0, 1),
            goal=Goal(0.80),
            more={
                "people": people,
                "plain": people / again.median(1),
                "beside_plain": again.speed(0, 1),
                **counted_again,
            },
        ),
        Figure(
            case="P8",
            what=f"fan-out to {people:,}, HOT of inbox_state",
            unit="share",
            ours=sides.hot / sides.updated,
            goal=Goal(0.95),
        ),
    ]
