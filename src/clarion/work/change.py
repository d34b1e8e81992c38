"""A change commits, and then tells: in that order, in one place (ENGINE, 6).

Doors hand their commands to `Changes`; they open no transaction, drop no cache and signal nobody themselves.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from clarion.store.database import Command, Database, Session
from clarion.store.faults import is_transient

T = TypeVar("T")

TRIES = 4
RETRY_SECONDS = 0.01
"""Before the second try; before the third twice as long, and so on."""


class Changes:
    """Runs commands, each in a transaction of its own, and tells the listeners after the commit."""

    def __init__(self, database: Database, tell_relays: Callable[[], None]) -> None:
        self._database = database
        self._tell_relays = tell_relays

    async def run(self, command: Command[T]) -> T:
        """Run one command in a transaction of its own. Raises: what the command raises, with nothing changed."""
        async with self.open() as session:
            return await session.run(command)

    async def insist(self, make: Callable[[], Command[T]]) -> T:
        """Run a command as `run` does, made anew after a deadlock or the like, `TRIES` times at most.

        Raises: what the command raises; after the last try the database's own error.
        """
        for tried in range(1, TRIES):
            try:
                return await self.run(make())
            except Exception as error:
                if not is_transient(error):
                    raise
            await asyncio.sleep(RETRY_SECONDS * tried)
        return await self.run(make())

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Session]:
        """A transaction for several commands that belong together: all of them, or none."""
        async with self._database.session() as session:
            yield session
        if session.wakes_relays:
            self._tell_relays()
