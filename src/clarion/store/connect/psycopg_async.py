"""A psycopg `AsyncConnection` of the caller's: as `psycopg_sync`, awaited."""

from functools import partial
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from clarion.model.errors import AutocommitRefused
from clarion.store.connect.refusals import refusals_as_ours
from clarion.store.connect.runners import AsyncRunner
from clarion.store.database import Row
from clarion.store.queries import Queries, Statement


def runner(connection: object, queries: Queries) -> AsyncRunner | None:
    """Return a runner if this is such a connection."""
    if isinstance(connection, psycopg.AsyncConnection):
        return AsyncRunner(partial(_send, connection, queries))
    return None


async def _send(connection: psycopg.AsyncConnection[Any], queries: Queries, statement: Statement) -> list[Row]:
    await _settle(connection)
    if connection.autocommit and connection.info.transaction_status == TransactionStatus.IDLE:
        raise AutocommitRefused
    with refusals_as_ours():
        async with psycopg.AsyncCursor(connection, row_factory=dict_row) as cursor:
            await cursor.execute(queries[statement.name], statement.params)
            await _settle(connection)
            return await cursor.fetchall() if cursor.description else []


async def _settle(connection: psycopg.AsyncConnection[Any]) -> None:
    if connection.pgconn.pipeline_status:
        async with connection.pipeline() as pipeline:
            await pipeline.sync()
