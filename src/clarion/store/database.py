"""Clarion's own connections: an async pool, and transactions that speak in named queries."""

from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager
from typing import Any, Self, TypeVar

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from clarion.store.arrays import configure
from clarion.store.queries import Queries, Statement, ask

T = TypeVar("T")
Row = dict[str, Any]
Command = Generator[Statement, list[Row], T]
"""A command yields statements, is sent their rows, and returns its result; it never commits."""

OPTIONS = {
    "jit": "off",
    "timezone": "UTC",
    "idle_in_transaction_session_timeout": "60s",
}
"""Settings of every connection of ours. JIT costs more than it saves on short statements."""


POOL_SECONDS = 5.0
"""How long a command waits for a connection before the door says that the database is away."""


def connection_arguments(application: str, **options: str) -> dict[str, Any]:
    """Return how we connect: rows as dicts, dead peers noticed within 10 s, server settings as given."""
    return {
        "row_factory": dict_row,
        "application_name": application,
        "options": " ".join(f"-c {name}={value}" for name, value in {**OPTIONS, **options}.items()),
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
    }


class Session:
    """One connection that speaks in named queries."""

    def __init__(self, connection: psycopg.AsyncConnection[Row], queries: Queries) -> None:
        self.connection = connection
        self.queries = queries
        self.wakes_relays = False

    async def send(self, statement: Statement) -> list[Row]:
        """Send one statement and return its rows, none if it has none."""
        self.wakes_relays |= statement.wakes_relays
        prepare = False if statement.name in self.queries.planned_each_time else None
        cursor = await self.connection.execute(self.queries[statement.name], statement.params, prepare=prepare)
        return await cursor.fetchall() if cursor.description else []

    async def fetch(self, name: str, /, **params: Any) -> list[Row]:
        """Return the rows of a named query."""
        return await self.send(ask(name, **params))

    async def run(self, command: Command[T]) -> T:
        """Run a command's statements on this connection; its transaction is the caller's."""
        try:
            statement = next(command)
            while True:
                statement = command.send(await self.send(statement))
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        """A transaction, or a savepoint within one: committed at the end, rolled back on an error."""
        async with self.connection.transaction():
            yield self


class Database:
    """The pool of connections, and the queries for the schema they work in."""

    def __init__(self, url: str, schema: str = "clarion", *, size: int = 10, application: str = "clarion") -> None:
        self.url = url
        self.schema = schema
        self.queries = Queries(schema)
        self._application = application
        self._pool: AsyncConnectionPool[psycopg.AsyncConnection[Row]] = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=size,
            open=False,
            kwargs=connection_arguments(application),
            check=AsyncConnectionPool.check_connection,
            configure=configure,
            timeout=POOL_SECONDS,
            reconnect_timeout=300,
        )

    async def open(self) -> None:
        """Open the pool. Raises: `psycopg.OperationalError` or `PoolTimeout` when no server answers in 30 s."""
        await self._pool.open(wait=True)

    async def close(self) -> None:
        """Close every connection of the pool."""
        await self._pool.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def connect(self, purpose: str, *, autocommit: bool = True, **options: str) -> Session:
        """Return a connection outside the pool, for one that lives long. The caller closes it."""
        connection = await psycopg.AsyncConnection.connect(
            self.url, autocommit=autocommit, **connection_arguments(f"{self._application} {purpose}", **options)
        )
        await configure(connection)
        return Session(connection, self.queries)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """A connection of the pool in a transaction, committed at the end, rolled back on an error."""
        async with self._pool.connection() as connection:
            yield Session(connection, self.queries)
