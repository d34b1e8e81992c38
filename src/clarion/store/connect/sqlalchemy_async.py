"""A SQLAlchemy `AsyncConnection` or `AsyncSession` of the caller's: what is sync beneath it does the work."""

from functools import partial

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session

from clarion.store.connect.runners import AsyncRunner
from clarion.store.connect.sqlalchemy_sync import send
from clarion.store.database import Row
from clarion.store.queries import Queries, Statement


def runner(connection: object, queries: Queries) -> AsyncRunner | None:
    """Return a runner if this is such a connection or session."""
    if isinstance(connection, async_scoped_session):
        connection = connection()
    if isinstance(connection, AsyncConnection | AsyncSession):
        return AsyncRunner(partial(_send, connection, queries))
    return None


async def _send(caller: AsyncConnection | AsyncSession, queries: Queries, statement: Statement) -> list[Row]:
    return await caller.run_sync(send, queries, statement)
