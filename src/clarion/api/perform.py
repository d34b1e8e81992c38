"""Running commands for a door, with the database's troubles told as errors of ours."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from clarion.api.errors import Unavailable
from clarion.engine import Engine
from clarion.store.connect.refusals import refusals_as_ours
from clarion.store.database import Command
from clarion.store.faults import is_disconnect, is_transient

TRIES = 4
"""A command that met a deadlock or a lock that was not to be had is run again, so often at most."""

P = ParamSpec("P")
T = TypeVar("T")


async def perform(engine: Engine, command: Callable[P, Command[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a command in a transaction of its own, again after a deadlock.

    Raises: what the command raises; `Unavailable` when the database is away or stays too busy.
    """
    for attempt in range(1, TRIES + 1):
        try:
            with troubles_as_ours():
                return await engine.changes.run(command(*args, **kwargs))
        except Exception as error:
            if not is_transient(error):
                raise
            if attempt == TRIES:
                raise Unavailable("too much is going on at once with these rows: try again") from error
            await asyncio.sleep(0.01 * attempt)
    raise AssertionError


@contextmanager
def troubles_as_ours() -> Iterator[None]:
    """Turn what the database refuses, and that it is away, into errors of ours."""
    try:
        with refusals_as_ours():
            yield
    except Exception as error:
        if is_disconnect(error) or isinstance(error, OSError):
            raise Unavailable("the database is away: try again in a moment") from error
        raise
