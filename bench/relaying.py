"""P4: draining a backlog with an empty handler, beside bare claim-and-settle and beside pgqueuer."""

import time
from collections.abc import Collection, Sequence

from bench.figures import Figure, Goal, interleave
from bench.ground import Ground, run, tidy
from bench.peers import Pgqueuer
from bench.watching import OpenRelay, WatchedDatabase, counted
from clarion.model.event import Done, Event, Handled
from clarion.store.database import Session

TYPE = "bench.happened"
EVENTS = 10_000
BATCH = 100
ROUNDS = 5

CLAIM = """
SELECT id, type, keys FROM clarion.outbox_event
WHERE state = 'waiting' AND consumer = 'plain' AND NOT alone AND available_at <= now()
ORDER BY consumer, alone, available_at, id LIMIT 100 FOR UPDATE SKIP LOCKED
"""
SETTLE = "UPDATE clarion.outbox_event SET state = 'done', settled_at = now() WHERE id = ANY(%s)"


class Empty:
    """A consumer that does nothing."""

    name = "notifier"

    def types(self) -> Collection[str]:
        return {TYPE}

    async def handle(self, _: Session, events: Sequence[Event]) -> Handled:
        return Handled({event.id: Done() for event in events})


async def fill(database: WatchedDatabase, consumer: str) -> None:
    await run(
        database,
        "INSERT INTO clarion.outbox_event (type, consumer, keys)"
        f" SELECT '{TYPE}', '{consumer}', jsonb_build_object('row', i) FROM generate_series(1, {EVENTS}) i",
    )


async def claim_and_settle(session: Session) -> float:
    started = time.perf_counter()
    while True:
        async with session.transaction():
            rows = await (await session.connection.execute(CLAIM)).fetchall()
            if not rows:
                return time.perf_counter() - started
            await session.connection.execute(SETTLE, [[row["id"] for row in rows]])


async def drain(ground: Ground) -> list[Figure]:
    async with ground.database() as database, OpenRelay(database, Empty(), batch=BATCH) as relay:
        await tidy(database)
        plain = await database.connect("plain")
        peer = await Pgqueuer.install(database.url)

        async def ours() -> float:
            await fill(database, "notifier")
            return await relay.settle(EVENTS)

        async def bare() -> float:
            await fill(database, "plain")
            return await claim_and_settle(plain)

        async def theirs() -> float:
            await peer.fill(EVENTS)
            return await peer.drain(BATCH)

        async with plain.connection:
            await interleave(1, ours, bare, theirs)
            pairs = await interleave(ROUNDS, ours, bare, theirs)
            exact = await counted(database, plain, ours, EVENTS)
        figures = [
            Figure(
                case="P4",
                what="drain beside bare claim and settle",
                unit="events/s",
                ours=EVENTS / pairs.median(0),
                baseline=EVENTS / pairs.median(1),
                ratio=pairs.speed(0, 1),
                goal=Goal(0.35),
                more=exact,
            ),
            Figure(
                case="P4",
                what="drain beside pgqueuer",
                unit="events/s",
                ours=EVENTS / pairs.median(0),
                baseline=EVENTS / pairs.median(2),
                ratio=pairs.speed(0, 2),
                goal=Goal(1.2),
            ),
        ]
        await peer.close()
        return figures


__all__ = ["Empty", "drain"]
