"""A change commits, and then tells: in that order, in one place (ENGINE, 6).

Doors hand their commands to `Changes`; they open no transaction, drop no cache and signal nobody themselves.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from clarion.store.database import Command, Database, Session

T = TypeVar("T")


class Changes:
    """Runs commands, each in a transaction of its own, and tells the listeners after the commit."""

    def __init__(self, database: Database, tell_relays: Callable[[], None]) -> None:
        self._database = database
        self._tell_relays = tell_relays

    async def run(self, command: Command[T]) -> T:
        """Run one command in a transaction of its own. Raises: what the command raises, with nothing changed."""
        async with self.open() as session:
            return await session.run(command)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Session]:
        """A transaction for several commands that belong together: all of them, or none."""
        async with self._database.session() as session:
            yield session
        if session.wakes_relays:
            self._tell_relays()
