"""Commands on a caller's own connection, in the caller's own transaction (O1).

Kept here: nothing in this package begins, commits or rolls back a transaction, or makes a savepoint. One short
file a kind of connection; a kind is looked at only when its library is loaded, since no connection of it can
exist before.
"""

import sys
from importlib import import_module
from typing import Any, overload

from clarion.model.errors import Invalid
from clarion.store.connect.runners import (
    AsyncConnection,
    AsyncRunner,
    Pending,
    SyncConnection,
    SyncRunner,
)
from clarion.store.database import Command, T
from clarion.store.queries import Queries

__all__ = ["AsyncConnection", "AsyncRunner", "Pending", "SyncConnection", "SyncRunner", "run", "runner_for"]

_KINDS = (
    ("psycopg", "psycopg_sync"),
    ("psycopg", "psycopg_async"),
    ("sqlalchemy", "sqlalchemy_sync"),
    ("sqlalchemy.ext.asyncio", "sqlalchemy_async"),
    ("asyncpg", "asyncpg_async"),
)
"""The library that must be loaded, and the file that knows its connections."""

_ACCEPTED = (
    "a psycopg Connection or AsyncConnection; a SQLAlchemy Connection, Session, AsyncConnection or"
    " AsyncSession; or an asyncpg Connection"
)

_HINTS = {
    "str": "connect first",
    "Cursor": "pass the connection of the cursor",
    "AsyncCursor": "pass the connection of the cursor",
    "Engine": "pass a connection of the engine: `with engine.begin() as connection:`",
    "AsyncEngine": "pass a connection of the engine: `async with engine.begin() as connection:`",
    "ConnectionPool": "pass a connection of the pool: `with pool.connection() as connection:`",
    "AsyncConnectionPool": "pass a connection of the pool: `async with pool.connection() as connection:`",
    "Pool": "pass a connection of the pool: `async with pool.acquire() as connection:`",
    "sessionmaker": "pass a session that it makes",
    "async_sessionmaker": "pass a session that it makes",
    "ConnectionProxy": "of Django, pass `connection.connection` inside `transaction.atomic()`",
    "DatabaseWrapper": "of Django, pass `connection.connection` inside `transaction.atomic()`",
}
"""What people pass by mistake, by the name of its class, and what to pass instead."""


def runner_for(connection: Any, queries: Queries) -> SyncRunner | AsyncRunner:
    """Return what runs commands on this connection, in whatever transaction it is in.

    Raises: `Invalid` for what is no connection to PostgreSQL that we know, with those that we do.
    Cost: no statement.
    """
    for library, file in _KINDS:
        if library in sys.modules:
            kind = import_module(f"{__name__}.{file}")
            runner: SyncRunner | AsyncRunner | None = kind.runner(connection, queries)
            if runner is not None:
                return runner
    found = type(connection)
    hint = _HINTS.get(found.__name__)
    raise Invalid(
        f"{found.__module__}.{found.__qualname__} is no connection to publish on:"
        f" {f'{hint}; ' if hint else ''}accepted are {_ACCEPTED}"
    )


@overload
def run(connection: SyncConnection, queries: Queries, command: Command[T], call: str = ...) -> T: ...
@overload
def run(connection: AsyncConnection, queries: Queries, command: Command[T], call: str = ...) -> Pending[T]: ...
def run(connection: Any, queries: Queries, command: Command[T], call: str = "a command") -> T | Pending[T]:
    """Run a command on a caller's connection: at once, or once awaited where the connection is async.

    Transaction: the caller's, which is neither begun, committed nor rolled back here. Raises: `Invalid` as
    `runner_for`, `AutocommitRefused`, what the command raises, and the database's refusals as errors of ours;
    other errors of the database as they are, such as that the transaction has failed already. After an error
    of the database, as after any of its own, the caller's transaction can only be rolled back. Cost: the
    command's statements and nothing else. `call` names the command in the warning about a missing `await`.
    """
    runner = runner_for(connection, queries)
    if isinstance(runner, SyncRunner):
        return runner.run(command)
    return Pending(runner, command, call)
