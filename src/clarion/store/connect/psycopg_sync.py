"""A psycopg `Connection` of the caller's."""

from functools import partial
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from clarion.model.errors import AutocommitRefused
from clarion.store.connect.refusals import refusals_as_ours
from clarion.store.connect.runners import SyncRunner
from clarion.store.database import Row
from clarion.store.queries import Queries, Statement


def runner(connection: object, queries: Queries) -> SyncRunner | None:
    """Return a runner if this is such a connection."""
    return SyncRunner(partial(_send, connection, queries)) if isinstance(connection, psycopg.Connection) else None


def _send(connection: psycopg.Connection[Any], queries: Queries, statement: Statement) -> list[Row]:
    """Send a statement by a cursor of ours: the connection's own may have another style or make other rows."""
    _settle(connection)
    if connection.autocommit and connection.info.transaction_status == TransactionStatus.IDLE:
        raise AutocommitRefused
    with refusals_as_ours(), psycopg.Cursor(connection, row_factory=dict_row) as cursor:
        cursor.execute(queries[statement.name], statement.params)
        _settle(connection)
        return cursor.fetchall() if cursor.description else []


def _settle(connection: psycopg.Connection[Any]) -> None:
    """In pipeline mode wait for what was sent: before, so that the caller's errors are told as such; after."""
    if connection.pgconn.pipeline_status:
        with connection.pipeline() as pipeline:
            pipeline.sync()
