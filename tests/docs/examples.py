"""Running what a page shows: its blocks marked `run`, in order, in one world, as a reader would."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import psycopg

from clarion.cli.serving import address, bound, serve_until
from clarion.config import Settings
from clarion.content.people import add_person
from clarion.engine import Engine
from clarion.inbox.listing import list_rows
from clarion.model.inbox import Row
from docs.reading import Block, blocks

PEOPLE = {7: "ada", 8: "bo"}
"""Who is there before an example begins: the pages say so."""


def run_page(page: Path, url: str) -> ModuleType:
    """Runs the blocks of a page that are marked `run`, and returns what they defined."""
    module = ModuleType(page.stem.replace("-", "_"))
    for block in blocks(page):
        if block.runs:
            _run(block, module, page, url)
    return module


def _run(block: Block, module: ModuleType, page: Path, url: str) -> None:
    match block.language:
        case "python":
            padded = "\n" * (block.line - 1) + block.text
            exec(compile(padded, str(page), "exec"), module.__dict__)  # noqa: S102 - our own pages
        case "sql":
            with psycopg.connect(url, autocommit=True) as connection:
                for statement in _statements(block.text):
                    connection.execute(statement.encode())
        case language:
            raise AssertionError(f"{page.name}:{block.line}: {language} is not run")


def _statements(text: str) -> Iterator[str]:
    """The statements of a block, one by one, as psql sends them: each ends with its line."""
    for statement in text.split(";\n"):
        if statement.strip():
            yield statement


async def with_people(engine: Engine) -> None:
    """Makes sure of those who are there before an example begins."""
    for person, handle in PEOPLE.items():
        await engine.changes.run(add_person(person, handle=handle))


async def heard(engine: Engine, person: int, count: int, *, seconds: float = 20.0) -> list[Row]:
    """What a person heard, once it is so many things."""
    async with asyncio.timeout(seconds):
        while len(rows := (await engine.changes.run(list_rows(person))).rows) < count:  # noqa: ASYNC110 - as a reader would
            await asyncio.sleep(0.02)
    return list(rows)


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """The URL of a server with a relay, as `clarion serve` is one."""
    started: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    thread = Thread(target=lambda: asyncio.run(_serve(settings, started)))
    thread.start()
    try:
        url, loop, stopping = started.result(timeout=30)
        yield url
        loop.call_soon_threadsafe(stopping.set)
    finally:
        thread.join(timeout=30)


async def _serve(settings: Settings, started: "Future[Any]") -> None:
    try:
        with bound("127.0.0.1", 0) as listener:
            stopping = asyncio.Event()
            async with Engine(settings) as engine, engine.relaying():
                started.set_result((address(listener), asyncio.get_running_loop(), stopping))
                await serve_until(engine, listener, stopping)
    except BaseException as error:
        if not started.done():
            started.set_exception(error)
        raise
