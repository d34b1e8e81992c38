"""LISTEN on a connection of its own, as a stream of rings."""

from collections.abc import AsyncIterator

from psycopg import sql

from clarion.store.database import Session


async def listen(session: Session, channel: str) -> AsyncIterator[None]:
    """Yield once at the start, for what was missed, and once for each signal. Raises when the connection is lost."""
    await session.connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
    yield
    async for _ in session.connection.notifies():
        yield
