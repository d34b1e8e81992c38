"""How a command runs: the settings of the call, an open engine, and one way out for whatever goes wrong."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import typer

from clarion.cli.exits import INTERRUPTED, exit_code, in_words
from clarion.config import Settings, load
from clarion.engine import Engine
from clarion.model.errors import ClarionError
from clarion.store.connect.refusals import refusals_as_ours
from clarion.store.database import Command

T = TypeVar("T")

DEMO: Final = "demo"
"""The demo's folder in the data folder, and the end of its schema's name: it never mixes with real data."""

_choices: dict[str, Any] = {DEMO: False}


def use_demo() -> None:
    """Make every command of this process one about the demo's data."""
    _choices[DEMO] = True


def is_demo() -> bool:
    """Whether the commands of this process are about the demo's data."""
    return bool(_choices[DEMO])


def settings(**overrides: Any) -> Settings:
    """Return the settings of this call. Raises: `SettingsError`."""
    found = load(**overrides)
    return demo_settings(found) if is_demo() else found


def demo_settings(found: Settings) -> Settings:
    """Return settings that lead to the demo's own data: a folder, or a schema of the database, of its own."""
    return found.model_copy(
        update={
            "data_dir": found.data_dir / DEMO,
            "schema_name": found.schema_name if found.database_url is None else f"{found.schema_name[:58]}_{DEMO}",
            "person_key": "bigint",
            "space_key": "bigint",
        }
    )


def where(found: Settings) -> str:
    """Return where the database is, without its password."""
    if found.database_url is None:
        return f"in {found.data_dir / 'postgres'}"
    url = urlsplit(found.database_url)
    return f"{url.path.lstrip('/') or 'of the default name'} at {url.netloc.rpartition('@')[2] or 'the local socket'}"


@asynccontextmanager
async def opened(found: Settings, *, migrates: bool | None = None) -> AsyncIterator[Engine]:
    """An open engine over a schema that is as this version needs it.

    Raises: the engine's errors.
    """
    engine = Engine(found)
    await engine.open(run_migrations=migrates)
    try:
        yield engine
    finally:
        await engine.close()


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a command's coroutine to its end. Whatever goes wrong ends the process, with one sentence."""
    try:
        with refusals_as_ours():
            return asyncio.run(work())
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        known = in_words(error, where(settings()))
        if known is None:
            raise
        raise known from None


def change(command: Callable[[Engine], Coroutine[Any, Any, Command[T]]]) -> T:
    """Run one room's command in a transaction of its own, and return what it answers."""

    async def work() -> T:
        async with opened(settings()) as engine:
            return await engine.changes.run(await command(engine))

    return run(work)


def stop_event() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set; from now on they end nothing by themselves."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    return stopping


def complain(error: ClarionError) -> int:
    """Print an error as one sentence on stderr, and return the exit code."""
    print(f"clarion: {error}", file=sys.stderr)
    return exit_code(error)
