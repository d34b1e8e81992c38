"""P5: from the start of the publishing transaction to the commit that settled it, beside a bare LISTEN and claim."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import psycopg

from bench.figures import Figure, Goal
from bench.ground import Ground, tidy
from bench.relaying import CLAIM, SETTLE, TYPE, Empty
from bench.watching import WatchedDatabase
from clarion.outbox.publish import NewEvent, publish
from clarion.store.database import Session
from clarion.work.relay import Relay
from clarion.work.wake import Signals

RATE = 50
EVENTS = 100
"""A round and side; two seconds each, in turn, so that both see the same moments of the machine."""
ROUNDS = 7

INSERT = """
INSERT INTO clarion.outbox_event (type, consumer, keys) VALUES (%s, 'plain', '{}');
"""


class Handled:
    """Counts batches that are settled and committed; whoever waits for one is told."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self, point: str = "after commit") -> None:
        if point == "after commit":
            self._event.set()

    async def wait(self) -> None:
        await self._event.wait()
        self._event.clear()


async def respond(ground: Ground) -> list[Figure]:
    async with ground.database() as database:
        await tidy(database)
        async with relaying(database) as ours, looping(database) as bare:
            await latencies(ours)
            await latencies(bare)
            mine: list[float] = []
            theirs: list[float] = []
            for _ in range(ROUNDS):
                mine += await latencies(ours)
                theirs += await latencies(bare)
    figures = []
    for name, pick, most in (("p50", statistics.median, 3.0), ("p99", percentile_99, 10.0)):
        figures += [
            Figure(
                case="P5", what=f"publish to handled, {name}", unit="ms", ours=pick(mine), goal=Goal(most, at_most=True)
            ),
            Figure(
                case="P5",
                what=f"publish to handled, {name} beside LISTEN and claim",
                unit="ms",
                ours=pick(mine),
                baseline=pick(theirs),
                ratio=pick(mine) / pick(theirs),
                goal=Goal(2.0, at_most=True),
            ),
        ]
    return figures


Publish = Callable[[], Awaitable[None]]
"""Publishes one event and returns when it is handled."""


async def latencies(publish_one: Publish) -> list[float]:
    """Publish at a steady rate; return the milliseconds until each event was handled."""
    loop = asyncio.get_running_loop()
    first = loop.time() + 1 / RATE
    found = []
    for number in range(EVENTS):
        await asyncio.sleep(first + number / RATE - loop.time())  # the pace, not a wait for something
        started = time.perf_counter()
        await publish_one()
        found.append((time.perf_counter() - started) * 1000)
    return found


@asynccontextmanager
async def relaying(database: WatchedDatabase) -> AsyncIterator[Publish]:
    """Our relay, told of events by a NOTIFY as from another process."""
    handled = Handled()
    here, there = Signals(database), Signals(database)
    relay = Relay(database, Empty(), there.wake(), barrier=handled.ring)
    tasks = [asyncio.create_task(task) for task in (here.send(), there.receive(), relay.run())]

    async def publish_one() -> None:
        async with database.session() as session:
            await session.run(publish(NewEvent(type=TYPE)))
        here.publish()
        await handled.wait()

    try:
        yield publish_one
    finally:
        relay.stop()
        await tasks[2]
        for task in tasks[:2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def looping(database: WatchedDatabase) -> AsyncIterator[Publish]:
    """A bare loop: LISTEN on one connection, claim and settle on another; NOTIFY in the publishing transaction."""
    handled = Handled()
    listener = await psycopg.AsyncConnection.connect(database.url, autocommit=True)
    worker = await database.connect("bare")
    await listener.execute("LISTEN bare")

    async def loop() -> None:
        async for _ in listener.notifies():
            if await claim(worker):
                handled.ring()

    task = asyncio.create_task(loop())

    async def publish_one() -> None:
        async with database.session() as session:
            await session.connection.execute(INSERT, [TYPE])
            await session.connection.execute("SELECT pg_notify('bare', '')")
        await handled.wait()

    try:
        yield publish_one
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await listener.close()
        await worker.connection.close()


async def claim(worker: Session) -> bool:
    async with worker.transaction():
        rows = await (await worker.connection.execute(CLAIM)).fetchall()
        if rows:
            await worker.connection.execute(SETTLE, [[row["id"] for row in rows]])
    return bool(rows)


def percentile_99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]
