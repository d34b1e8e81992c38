"""P4: draining a backlog with an empty handler, beside bare claim-and-settle and beside pgqueuer."""

import sys
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager

from bench.figures import Figure, Goal, Side, interleave
from bench.ground import Ground, run, tidy
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

        async def ours() -> float:
            await fill(database, "notifier")
            return await relay.settle(EVENTS)

        async def bare() -> float:
            await fill(database, "plain")
            return await claim_and_settle(plain)

        async with plain.connection, pgqueuer(database.url) as theirs:
            sides = [ours, bare] if theirs is None else [ours, bare, theirs]
            await interleave(1, *sides)
            pairs = await interleave(ROUNDS, *sides)
            exact = await counted(database, plain, ours, EVENTS)
    return [
        Figure(
            case="P4",
            what=f"drain beside {what}",
            unit="events/s",
            ours=EVENTS / pairs.median(0),
            baseline=EVENTS / pairs.median(side),
            ratio=pairs.speed(0, side),
            goal=goal,
            more=exact,
        )
        for side, what, goal in ((1, "bare claim and settle", Goal(0.35)), (2, "pgqueuer", Goal(1.2)))
        if side < len(sides)
    ]


@asynccontextmanager
async def pgqueuer(url: str) -> AsyncIterator[Side | None]:
    """A backlog of the same size drained by pgqueuer; None where it is not installed."""
    try:
        from bench.peers import Pgqueuer  # noqa: PLC0415 - a peer may be missing
    except ImportError as error:
        print(f"pgqueuer is left out: {error}", file=sys.stderr)
        yield None
        return
    peer = await Pgqueuer.install(url)

    async def theirs() -> float:
        await peer.fill(EVENTS)
        return await peer.drain(BATCH)

    try:
        yield theirs
    finally:
        await peer.close()
