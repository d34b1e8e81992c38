"""A real server on loopback, in a thread of its own."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread

from clarion.cli.serving import address, bound, serve_until
from clarion.config import Settings
from clarion.engine import Engine

Started = tuple[str, asyncio.AbstractEventLoop, asyncio.Event]


@contextmanager
def served(settings: Settings, *, demo: bool = False) -> Iterator[str]:
    """The URL of a server that runs as long as the block."""
    started: Future[Started] = Future()
    thread = Thread(target=lambda: asyncio.run(_serve(settings, started, demo=demo)), daemon=True)
    thread.start()
    try:
        url, loop, stopping = started.result(timeout=30)
        try:
            yield url
        finally:
            loop.call_soon_threadsafe(stopping.set)
    finally:
        thread.join(timeout=30)
        assert not thread.is_alive(), "the server did not stop"


async def _serve(settings: Settings, started: "Future[Started]", *, demo: bool) -> None:
    try:
        with bound("127.0.0.1", 0) as listener:
            stopping = asyncio.Event()
            async with Engine(settings) as engine:
                started.set_result((address(listener), asyncio.get_running_loop(), stopping))
                await serve_until(engine, listener, stopping, demo=demo)
    except BaseException as error:
        if not started.done():
            started.set_exception(error)
        raise
