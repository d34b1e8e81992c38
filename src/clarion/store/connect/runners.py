"""How a command is run: its statements are sent one by one, and their rows sent back, sync or async."""

import warnings
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, Protocol

from clarion.store.database import Command, Row, T
from clarion.store.queries import Statement


class SyncConnection(Protocol):
    """How a type checker knows a sync connection or session of whatever library: it commits at once."""

    def commit(self) -> None:
        """Commit; never called here."""
        ...


class _AwaitsCommit(Protocol):
    def commit(self) -> Awaitable[None]:
        """Commit; never called here."""
        ...


class _Asyncpg(Protocol):
    def is_in_transaction(self) -> bool:
        """Whether a transaction block is open."""
        ...


AsyncConnection = _AwaitsCommit | _Asyncpg
"""How a type checker knows an async connection or session: its commit is awaited, or it is asyncpg's."""


@dataclass(frozen=True, slots=True)
class SyncRunner:
    """Runs commands on one connection, in the transaction that it is in."""

    send: Callable[[Statement], list[Row]]

    def run(self, command: Command[T]) -> T:
        """Run the command's statements and return its result. Raises: as `clarion.store.connect.run`."""
        try:
            statement = next(command)
            while True:
                statement = command.send(self.send(statement))
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class AsyncRunner:
    """Runs commands on one async connection, in the transaction that it is in."""

    send: Callable[[Statement], Awaitable[list[Row]]]

    async def run(self, command: Command[T]) -> T:
        """Run the command's statements and return its result. Raises: as `clarion.store.connect.run`."""
        try:
            statement = next(command)
            while True:
                statement = command.send(await self.send(statement))
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]


class Pending(Generic[T]):
    """A command that runs when it is awaited, once; thrown away before, it warns with what was called.

    It is no coroutine: to run it in a task of its own, await it in a coroutine of yours.
    """

    def __init__(self, runner: AsyncRunner, command: Command[T], call: str) -> None:
        self._runner = runner
        self._command = command
        self._call = call
        self._awaited = False

    def __await__(self) -> Generator[Any, Any, T]:
        if self._awaited:
            raise RuntimeError(f"{self._call} was awaited before")
        self._awaited = True
        return self._runner.run(self._command).__await__()

    def __del__(self) -> None:
        if not self._awaited:
            warnings.warn(f"{self._call} was never awaited", RuntimeWarning, stacklevel=2)
