"""P1, P2, P3: publishing beside the INSERT that the same host would write by hand."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import sqlalchemy
from sqlalchemy.ext.asyncio import create_async_engine

from bench.figures import Figure, Goal, interleave
from bench.ground import Ground
from clarion.application import Clarion
from clarion.config import Settings
from clarion.outbox.publish import NewEvent

TYPE = "bench.happened"
TRANSACTIONS = 300
ROUNDS = 7
CONNECTIONS = 8
MANY = 1_000
CALLS = 10

TABLE = "CREATE TABLE host (id integer PRIMARY KEY, value integer NOT NULL) WITH (fillfactor = 50)"
ROWS = f"INSERT INTO host SELECT i, 0 FROM generate_series(0, {TRANSACTIONS * CONNECTIONS}) i"
CHANGE = "UPDATE host SET value = value + 1 WHERE id = %s"
INSERT = "INSERT INTO clarion.outbox_event (type, keys, actor, thread_key, post_key) VALUES (%s, %s, %s, %s, %s)"
INSERT_DUE = (
    "INSERT INTO clarion.outbox_event (type, keys, actor, thread_key, post_key, available_at)"
    " VALUES (%s, %s, %s, %s, %s, %s)"
)
INSERT_MANY = """
INSERT INTO clarion.outbox_event (type, keys, actor, thread_key, post_key)
SELECT * FROM unnest(%s::text[], %s::jsonb[], %s::bigint[], %s::text[], %s::text[])
"""
TOMORROW = datetime.now(UTC) + timedelta(days=1)


def event(row: int) -> dict[str, Any]:
    return {"keys": {"row": row}, "actor": row, "thread": f"row:{row % 100}", "post": f"post:{row}"}


def values(row: int) -> tuple[Any, ...]:
    return TYPE, json.dumps({"row": row}), row, f"row:{row % 100}", f"post:{row}"


async def publish_one(ground: Ground) -> list[Figure]:
    """P1: a host's UPDATE and our publish in one transaction, on each kind of connection."""
    with ground.url() as url:
        prepare(url)
        return [
            await kind(name, goal, *await sides(url))
            for name, sides, goal in (
                ("psycopg", psycopg_sync, Goal(0.80)),
                ("psycopg async", psycopg_async, None),
                ("SQLAlchemy", sqlalchemy_sync, None),
                ("SQLAlchemy async", sqlalchemy_async, None),
            )
        ]


Transaction = Callable[[int], Awaitable[None]]
Close = Callable[[], Awaitable[None]]


async def kind(name: str, goal: Goal | None, ours: Transaction, by_hand: Transaction, close: Close) -> Figure:
    async def timed(transaction: Transaction) -> float:
        started = time.perf_counter()
        for row in range(TRANSACTIONS):
            await transaction(row)
        return time.perf_counter() - started

    try:
        await interleave(1, lambda: timed(ours), lambda: timed(by_hand))
        pairs = await interleave(ROUNDS, lambda: timed(ours), lambda: timed(by_hand))
    finally:
        await close()
    return Figure(
        case="P1",
        what=f"publish with a change, {name}",
        unit="events/s",
        ours=TRANSACTIONS / pairs.median(0),
        baseline=TRANSACTIONS / pairs.median(1),
        ratio=pairs.speed(0, 1),
        goal=goal,
    )


async def psycopg_sync(url: str) -> tuple[Transaction, Transaction, Close]:
    connection = psycopg.connect(url)
    clarion = application(url)

    async def ours(row: int) -> None:
        with connection.transaction():
            connection.execute(CHANGE, [row])
            clarion.publish(connection, TYPE, **event(row))

    async def by_hand(row: int) -> None:
        with connection.transaction():
            connection.execute(CHANGE, [row])
            connection.execute(INSERT, values(row))

    async def close() -> None:
        connection.close()

    return ours, by_hand, close


async def psycopg_async(url: str) -> tuple[Transaction, Transaction, Close]:
    connection = await psycopg.AsyncConnection.connect(url)
    clarion = application(url)

    async def ours(row: int) -> None:
        async with connection.transaction():
            await connection.execute(CHANGE, [row])
            await clarion.publish(connection, TYPE, **event(row))

    async def by_hand(row: int) -> None:
        async with connection.transaction():
            await connection.execute(CHANGE, [row])
            await connection.execute(INSERT, values(row))

    return ours, by_hand, connection.close


async def sqlalchemy_sync(url: str) -> tuple[Transaction, Transaction, Close]:
    engine = sqlalchemy.create_engine(alchemy(url))
    connection = engine.connect()
    clarion = application(url)

    async def ours(row: int) -> None:
        with connection.begin():
            connection.exec_driver_sql(CHANGE, (row,))
            clarion.publish(connection, TYPE, **event(row))

    async def by_hand(row: int) -> None:
        with connection.begin():
            connection.exec_driver_sql(CHANGE, (row,))
            connection.exec_driver_sql(INSERT, values(row))

    async def close() -> None:
        connection.close()
        engine.dispose()

    return ours, by_hand, close


async def sqlalchemy_async(url: str) -> tuple[Transaction, Transaction, Close]:
    engine = create_async_engine(alchemy(url))
    connection = await engine.connect()
    clarion = application(url)

    async def ours(row: int) -> None:
        async with connection.begin():
            await connection.exec_driver_sql(CHANGE, (row,))
            await clarion.publish(connection, TYPE, **event(row))

    async def by_hand(row: int) -> None:
        async with connection.begin():
            await connection.exec_driver_sql(CHANGE, (row,))
            await connection.exec_driver_sql(INSERT, values(row))

    async def close() -> None:
        await connection.close()
        await engine.dispose()

    return ours, by_hand, close


async def publish_from_many(ground: Ground) -> list[Figure]:
    """P2: eight connections, each with its thread, while a relay in another process listens.

    The events are due tomorrow, so that both sides only write: the relay wakes at each signal and finds nothing.
    """
    with ground.url() as url:
        prepare(url)
        worker = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bench.worker",
            url,
            TYPE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert worker.stdin
        assert worker.stdout
        await worker.stdout.readline()
        try:
            return [await eight_connections(url)]
        finally:
            worker.stdin.close()
            await worker.wait()


async def eight_connections(url: str) -> Figure:
    clarion = application(url)
    connections = [psycopg.connect(url) for _ in range(CONNECTIONS)]

    def ours(number: int) -> None:
        connection = connections[number]
        for row in range(TRANSACTIONS):
            with connection.transaction():
                clarion.publish(connection, TYPE, **event(row), available_at=TOMORROW)

    def by_hand(number: int) -> None:
        connection = connections[number]
        for row in range(TRANSACTIONS):
            with connection.transaction():
                connection.execute(INSERT_DUE, (*values(row), TOMORROW))

    async with clarion.engine:
        with ThreadPoolExecutor(CONNECTIONS) as threads:

            async def timed(write: Callable[[int], None]) -> float:
                loop = asyncio.get_running_loop()
                started = time.perf_counter()
                await asyncio.gather(*(loop.run_in_executor(threads, write, number) for number in range(CONNECTIONS)))
                return time.perf_counter() - started

            await interleave(1, lambda: timed(ours), lambda: timed(by_hand))
            pairs = await interleave(ROUNDS, lambda: timed(ours), lambda: timed(by_hand))
    for connection in connections:
        connection.close()
    events = TRANSACTIONS * CONNECTIONS
    return Figure(
        case="P2",
        what=f"publish, {CONNECTIONS} connections, a relay listening",
        unit="events/s",
        ours=events / pairs.median(0),
        baseline=events / pairs.median(1),
        ratio=pairs.speed(0, 1),
        goal=Goal(0.75),
    )


async def publish_many(ground: Ground) -> list[Figure]:
    """P3: a thousand events a call, beside one INSERT … SELECT from unnest."""
    with ground.url() as url, psycopg.connect(url) as connection:
        clarion = application(url)
        events = [NewEvent(type=TYPE, **event(row)) for row in range(MANY)]
        columns = [list(column) for column in zip(*(values(row) for row in range(MANY)), strict=True)]

        async def ours() -> float:
            started = time.perf_counter()
            for _ in range(CALLS):
                with connection.transaction():
                    clarion.publish_many(connection, events)
            return time.perf_counter() - started

        async def by_hand() -> float:
            started = time.perf_counter()
            for _ in range(CALLS):
                with connection.transaction():
                    connection.execute(INSERT_MANY, columns)
            return time.perf_counter() - started

        await interleave(1, ours, by_hand)
        pairs = await interleave(ROUNDS, ours, by_hand)
        return [
            Figure(
                case="P3",
                what=f"publish_many, {MANY:,} a call",
                unit="events/s",
                ours=MANY * CALLS / pairs.median(0),
                baseline=MANY * CALLS / pairs.median(1),
                ratio=pairs.speed(0, 1),
                goal=Goal(0.66),
            )
        ]


def application(url: str) -> Clarion:
    return Clarion(Settings(database_url=url))


def alchemy(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


def prepare(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(TABLE.encode())
        connection.execute(ROWS.encode())
