"""Running commands for a door, with the database's troubles told as errors of ours."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from clarion.api.errors import Unavailable
from clarion.engine import Engine
from clarion.store.connect.refusals import refusals_as_ours
from clarion.store.database import Command
from clarion.store.faults import is_disconnect, is_transient

P = ParamSpec("P")
T = TypeVar("T")


async def perform(engine: Engine, command: Callable[P, Command[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a command in a transaction of its own, again after a deadlock.

    Raises: what the command raises; `Unavailable` when the database is away or stays too busy.
    """
    with troubles_as_ours():
        return await engine.changes.insist(lambda: command(*args, **kwargs))


@contextmanager
def troubles_as_ours() -> Iterator[None]:
    """Turn what the database refuses, that it is too busy, and that it is away, into errors of ours."""
    try:
        with refusals_as_ours():
            yield
    except Exception as error:
        if is_transient(error):
            raise Unavailable("too much is going on at once with these rows: try again") from error
        if is_disconnect(error) or isinstance(error, OSError):
            raise Unavailable("the database is away: try again in a moment") from error
        raise
