"""Hosts of every kind: a connection in a transaction, as an application holds it, under one set of verbs."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager
from typing import Any, ClassVar, Protocol

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest
from psycopg.pq import TransactionStatus
from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from clarion.model.errors import ClarionError, Conflict, Invalid, TooLarge, WrongKey
from clarion.outbox.publish import NewEvent, publish
from clarion.store.connect import Pending, run
from clarion.store.database import Command, T
from clarion.store.queries import Queries

QUERIES = Queries()


class Log:
    """What the server said; drivers append to it, and SQLAlchemy cannot empty it."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def append(self, line: str) -> None:
        self.lines.append(line.removeprefix("LOG:  "))


class Host:
    """An application in the middle of a transaction, which it may begin, commit and roll back; we may not.

    As it stands: a SQLAlchemy `Connection` or `Session`.
    """

    def __init__(self, connection: Any, driver: Any) -> None:
        self.connection = connection
        self.driver = driver
        self.log = Log()

    async def run(self, command: Command[T]) -> T:
        """Runs a command of ours on the connection."""
        result: Any = run(self.connection, QUERIES, command)
        return await result if isinstance(result, Pending) else result  # type: ignore[no-any-return]

    async def publish(self, event: NewEvent) -> int:
        return await self.run(publish(event))

    @contextmanager
    def refused(self, error: type[ClarionError]) -> Iterator[None]:
        """Asserts that the block is refused, by this error or by what stands for it."""
        with pytest.raises(error):
            yield

    async def execute(self, statement: str) -> None:
        """Executes a statement of the host's own."""
        self.connection.execute(text(statement))

    async def commit(self) -> None:
        self.connection.commit()

    async def rollback(self) -> None:
        self.connection.rollback()

    async def in_transaction(self) -> bool:
        """Whether a transaction is open that has not failed, by the library's own word."""
        return bool(self.connection.in_transaction())

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """A savepoint by the library's own means: released at the end, rolled back on an error."""
        with self.connection.begin_nested():
            yield

    async def log_statements(self) -> None:
        """Has the server tell this connection of every statement that it executes."""
        if hasattr(self.driver, "add_notice_handler"):
            self.driver.add_notice_handler(lambda notice: self.log.append(notice.message_primary))
        elif hasattr(self.driver, "add_log_listener"):
            self.driver.add_log_listener(lambda _, message: self.log.append(message.message))
        else:
            self.driver.notices = self.log
        await self.execute("SET log_statement = 'all'")
        await self.execute("SET client_min_messages = 'log'")

    def logged(self) -> list[str]:
        """The statements that the server told of since this was last asked."""
        lines, self.log.lines = self.log.lines, []
        return [line for line in lines if line.startswith(("statement: ", "execute "))]


class AwaitedHost(Host):
    """A SQLAlchemy `AsyncConnection` or `AsyncSession`."""

    async def execute(self, statement: str) -> None:
        await self.connection.execute(text(statement))

    async def commit(self) -> None:
        await self.connection.commit()

    async def rollback(self) -> None:
        await self.connection.rollback()

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        async with self.connection.begin_nested():
            yield


class PsycopgHost(Host):
    async def execute(self, statement: str) -> None:
        self.connection.execute(statement)

    async def in_transaction(self) -> bool:
        return bool(self.connection.info.transaction_status == TransactionStatus.INTRANS)

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        with self.connection.transaction():
            yield


class AwaitedPsycopgHost(PsycopgHost):
    async def execute(self, statement: str) -> None:
        await self.connection.execute(statement)

    async def commit(self) -> None:
        await self.connection.commit()

    async def rollback(self) -> None:
        await self.connection.rollback()

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        async with self.connection.transaction():
            yield


class AsyncpgHost(Host):
    transaction: Any = None

    async def begin(self) -> None:
        self.transaction = self.connection.transaction()
        await self.transaction.start()

    async def execute(self, statement: str) -> None:
        await self.connection.execute(statement)

    async def commit(self) -> None:
        await self.transaction.commit()
        await self.begin()

    async def rollback(self) -> None:
        await self.transaction.rollback()
        await self.begin()

    async def in_transaction(self) -> bool:
        return bool(self.connection.is_in_transaction())

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        async with self.connection.transaction():
            yield


class FunctionHost(PsycopgHost):
    """A host in another language, as far as we can tell: it knows the documented function alone."""

    statement: ClassVar = (
        "SELECT clarion.publish(%(type)s, %(keys)s::jsonb, actor => %(actor)s, thread => %(thread)s, post => %(post)s,"
        " space => %(space)s, idempotency_key => %(idempotency_key)s, source => %(source)s)"
    )
    states: ClassVar[dict[type[ClarionError], str]] = {
        TooLarge: "CL001",
        Conflict: "CL002",
        Invalid: "CL003",
        WrongKey: "CL004",
    }

    async def publish(self, event: NewEvent) -> int:
        params = {name: getattr(event, name) for name in NewEvent.__slots__}
        for name in ("actor", "space"):
            params[name] = None if params[name] is None else str(params[name])
        row = self.connection.execute(self.statement, params | {"keys": json.dumps(event.keys)}).fetchone()
        return int(row[0])

    @contextmanager
    def refused(self, error: type[ClarionError]) -> Iterator[None]:
        with pytest.raises(psycopg.Error) as raised:
            yield
        assert raised.value.sqlstate == self.states[error]


class InsertHost(FunctionHost):
    """The INSERT beneath the function, where the table's own checks answer."""

    statement: ClassVar = (
        "INSERT INTO clarion.outbox_event (type, keys, actor, thread_key, post_key, space, idempotency_key, source)"
        " VALUES (%(type)s, %(keys)s::jsonb, %(actor)s, %(thread)s, %(post)s, %(space)s, %(idempotency_key)s,"
        " %(source)s) RETURNING id"
    )
    states: ClassVar[dict[type[ClarionError], str]] = {
        TooLarge: "23514",
        Conflict: "23505",
        Invalid: "23514",
        WrongKey: "22P02",
    }


class Opener(Protocol):
    """Opens a host on a database: in a transaction, or in autocommit."""

    def __call__(self, url: str, *, autocommit: bool = False) -> AbstractAsyncContextManager[Host]: ...


def _psycopg(host: type[Host]) -> Opener:
    @asynccontextmanager
    async def open_host(url: str, *, autocommit: bool = False) -> AsyncIterator[Host]:
        with closing(psycopg.connect(url, autocommit=autocommit)) as connection:
            yield host(connection, connection)

    return open_host


@asynccontextmanager
async def _psycopg_async(url: str, *, autocommit: bool = False) -> AsyncIterator[Host]:
    connection = await psycopg.AsyncConnection.connect(url, autocommit=autocommit)
    try:
        yield AwaitedPsycopgHost(connection, connection)
    finally:
        await connection.close()


@asynccontextmanager
async def _asyncpg(url: str, *, autocommit: bool = False) -> AsyncIterator[Host]:
    connection = await asyncpg.connect(url)
    host = AsyncpgHost(connection, connection)
    try:
        if not autocommit:
            await host.begin()
        yield host
    finally:
        await connection.close()


def _sqlalchemy(driver: str, kind: type[Connection | Session]) -> Opener:
    @asynccontextmanager
    async def open_host(url: str, *, autocommit: bool = False) -> AsyncIterator[Host]:
        engine = create_engine(make_url(url).set(drivername=f"postgresql+{driver}"), **_isolation(autocommit))
        try:
            with kind(engine) as connection:
                inner = connection.connection() if isinstance(connection, Session) else connection
                yield Host(connection, inner.connection.driver_connection)
        finally:
            engine.dispose()

    return open_host


def _sqlalchemy_async(driver: str, kind: type[AsyncConnection | AsyncSession]) -> Opener:
    @asynccontextmanager
    async def open_host(url: str, *, autocommit: bool = False) -> AsyncIterator[Host]:
        engine = create_async_engine(make_url(url).set(drivername=f"postgresql+{driver}"), **_isolation(autocommit))
        try:
            async with kind(engine) as connection:
                inner = await connection.connection() if isinstance(connection, AsyncSession) else connection
                yield AwaitedHost(connection, (await inner.get_raw_connection()).driver_connection)
        finally:
            await engine.dispose()

    return open_host


def _isolation(autocommit: bool) -> dict[str, Any]:
    return {"isolation_level": "AUTOCOMMIT"} if autocommit else {}


API: dict[str, Opener] = {
    "psycopg": _psycopg(PsycopgHost),
    "psycopg async": _psycopg_async,
    "SQLAlchemy Connection, psycopg": _sqlalchemy("psycopg", Connection),
    "SQLAlchemy Session, psycopg": _sqlalchemy("psycopg", Session),
    "SQLAlchemy Connection, psycopg2": _sqlalchemy("psycopg2", Connection),
    "SQLAlchemy Session, psycopg2": _sqlalchemy("psycopg2", Session),
    "SQLAlchemy AsyncConnection, psycopg": _sqlalchemy_async("psycopg", AsyncConnection),
    "SQLAlchemy AsyncSession, psycopg": _sqlalchemy_async("psycopg", AsyncSession),
    "SQLAlchemy AsyncConnection, asyncpg": _sqlalchemy_async("asyncpg", AsyncConnection),
    "SQLAlchemy AsyncSession, asyncpg": _sqlalchemy_async("asyncpg", AsyncSession),
    "asyncpg": _asyncpg,
}
"""Every kind of connection that our Python API takes."""

SQL: dict[str, Opener] = {"SQL function": _psycopg(FunctionHost), "INSERT": _psycopg(InsertHost)}
"""What a host in any language can do."""
