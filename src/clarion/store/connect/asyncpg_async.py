"""An asyncpg `Connection` of the caller's, or one that its pool lent.

Rows hold what the caller's own codecs make of them: commands that read `jsonb` cast it themselves.
"""

from functools import partial
from typing import Any

import asyncpg  # type: ignore[import-untyped]

from clarion.model.errors import AutocommitRefused
from clarion.store.connect.placeholders import positional
from clarion.store.connect.refusals import refusals_as_ours
from clarion.store.connect.runners import AsyncRunner
from clarion.store.database import Row
from clarion.store.queries import Queries, Statement


def runner(connection: object, queries: Queries) -> AsyncRunner | None:
    """Return a runner if this is such a connection."""
    return AsyncRunner(partial(_send, connection, queries)) if isinstance(connection, asyncpg.Connection) else None


async def _send(connection: Any, queries: Queries, statement: Statement) -> list[Row]:
    if not connection.is_in_transaction():
        raise AutocommitRefused
    sql, params = positional(queries[statement.name], statement.params)
    with refusals_as_ours():
        return [dict(row) for row in await connection.fetch(sql, *params)]
