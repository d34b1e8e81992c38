"""A SQLAlchemy `Connection` or `Session` of the caller's, on psycopg, psycopg2 or asyncpg.

Our SQL goes to the driver as it is, so that nothing in it is taken for SQLAlchemy's own placeholders.
"""

from functools import partial
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.orm import Session, scoped_session

from clarion.model.errors import AutocommitRefused, Invalid
from clarion.store.connect.placeholders import positional
from clarion.store.connect.refusals import refusals_as_ours
from clarion.store.connect.runners import SyncRunner
from clarion.store.database import Row
from clarion.store.queries import Queries, Statement

_OPTIONS = {"stream_results": False, "no_parameters": False}
"""Options that a caller may have set on the connection for statements of its own."""


def runner(connection: object, queries: Queries) -> SyncRunner | None:
    """Return a runner if this is such a connection or session."""
    if isinstance(connection, scoped_session):
        connection = connection()
    if isinstance(connection, Connection | Session):
        return SyncRunner(partial(send, connection, queries))
    return None


def send(caller: Connection | Session, queries: Queries, statement: Statement) -> list[Row]:
    """Send a statement in the caller's transaction and return its rows; a session is not flushed."""
    connection = caller.connection() if isinstance(caller, Session) else caller
    sql = queries[statement.name]
    params: Any = dict(statement.params)
    match connection.dialect.name, connection.dialect.paramstyle:
        case "postgresql", "pyformat":
            pass
        case "postgresql", "numeric_dollar":
            sql, params = positional(sql, statement.params)
        case name, _:
            raise Invalid(
                f"{name}+{connection.dialect.driver} is no database to publish in: Clarion needs PostgreSQL,"
                " by SQLAlchemy's drivers psycopg, psycopg2 or asyncpg"
            )
    if getattr(connection.connection.dbapi_connection, "autocommit", False):
        raise AutocommitRefused
    with refusals_as_ours():
        result = connection.exec_driver_sql(sql, params, execution_options=_OPTIONS)
        return [dict(row) for row in result.mappings()] if result.returns_rows else []
