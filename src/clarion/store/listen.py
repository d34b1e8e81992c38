"""LISTEN on a connection of its own, as a stream of rings; it proves now and then that it would hear one."""

from collections.abc import AsyncIterator
from uuid import uuid4

from psycopg import sql

from clarion.store.database import Session

QUIET_SECONDS = 30.0
"""After so long without a signal the connection calls itself: a dead peer or a pooler looks just as quiet."""

PROBE_SECONDS = 5.0
"""For its own call to come back."""


class Deaf(Exception):
    """LISTEN was accepted, but no signal of our own arrives: a pooler in transaction mode, most likely (F70)."""


async def listen(
    session: Session, channel: str, *, quiet_seconds: float = QUIET_SECONDS, probe_seconds: float = PROBE_SECONDS
) -> AsyncIterator[None]:
    """Yield once at the start, for what was missed, and once for each signal.

    Raises: the database's error when the connection is lost, `Deaf` when signals do not arrive.
    """
    probe = f"{channel}_probe_{uuid4().hex}"[-63:]
    connection = session.connection
    for name in (channel, probe):
        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(name)))
    heard = False
    yield
    while True:
        if not heard:
            await connection.execute("SELECT pg_notify(%s, '')", [probe])
        wait = quiet_seconds if heard else probe_seconds
        answered, heard = heard, False
        async for signal in connection.notifies(timeout=wait, stop_after=1):
            heard = True
            if signal.channel == channel:
                yield
        if not answered and not heard:
            raise Deaf("LISTEN is accepted, but no signal arrives")
