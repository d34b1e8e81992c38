"""`clarion demo`: a small forge played through Clarion, who heard of what and why, and the page to look at it."""

import sys
from contextlib import ExitStack
from time import perf_counter
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from clarion.cli import hints, running
from clarion.cli.demo_story import play, sample, was_played
from clarion.cli.demo_tables import Heard, show_heard, show_reasons, show_who, show_why_nots
from clarion.cli.printing import console
from clarion.cli.serving import Port, address, bound, serve_until
from clarion.config import Settings
from clarion.engine import Engine
from clarion.outbox import operate
from clarion.store.database import Command, Row
from clarion.store.queries import ask


def demo(
    *,
    ends: Annotated[bool, typer.Option("--exit", help="End after the tables, and serve nothing.")] = False,
    port: Port = None,
) -> None:
    """Play a small forge, show who heard of what and why, and serve the inbox page.

    Its data is its own: a folder `demo` in the data folder, or a schema of its own in your database.
    """
    running.use_demo()
    found = running.settings(port=port)
    running.run(lambda: _demo(found, ends=ends))


async def _demo(found: Settings, *, ends: bool) -> None:
    screen, started = console(), perf_counter()
    with ExitStack() as exits:
        listener = None if ends else exits.enter_context(bound(found.host, found.port))
        async with running.opened(found, migrates=True) as engine:
            ready = f"{_server(engine, found)} ready in {perf_counter() - started:.1f} s   {_place(found)}"
            screen.print(escape(ready), soft_wrap=True)
            await _play(engine, screen)
            heard = await _show(engine)
            if listener is None:
                return
            stopping = running.stop_event()
            engine.start_relays()
            _say_what_next(screen, address(listener), heard, found)
            await serve_until(engine, listener, stopping, demo=True)


async def _play(engine: Engine, screen: Console) -> None:
    total = len(sample())
    if await was_played(engine):
        screen.print(f"the {total} payloads of a small forge were played here before: nothing to do")
        return
    started, handled = perf_counter(), 0
    progress = Console(stderr=True)
    with progress.status("playing a small forge") as status:
        step = 0
        async for events in play(engine):
            step, handled = step + 1, handled + events
            status.update(f"playing a small forge: {min(step, total)} of {total} payloads, {handled} events")
    screen.print(
        f"played {total} payloads of a small forge: {handled} events relayed in {perf_counter() - started:.1f} s"
    )


async def _show(engine: Engine) -> list[Heard]:
    heard = [Heard(**row) for row in await engine.changes.run(_rows("show_everybody"))]
    (settled,) = await engine.changes.run(_rows("count_settled"))
    waiting = [depth for depth in await engine.changes.run(operate.measure_outbox()) if depth.state == "waiting"]
    show_heard(heard, settled, waiting)
    show_reasons(heard)
    show_who(heard)
    await show_why_nots(engine)
    return heard


def _server(engine: Engine, found: Settings) -> str:
    if engine.embedded:
        return f"PostgreSQL {engine.embedded.version}"
    return f"your PostgreSQL of CLARION_DATABASE_URL ({running.where(found)})"


def _place(found: Settings) -> str:
    if found.database_url is None:
        return f"{found.data_dir} (delete the folder to start over)"
    return f"in a schema of its own, {found.schema_name} (DROP SCHEMA {found.schema_name} CASCADE to start over)"


def _say_what_next(screen: Console, base: str, heard: list[Heard], found: Settings) -> None:
    unread = sum(row.unread for row in heard if row.handle == "ada")
    program = hints.program()
    screen.print()
    for what, how in (
        ("inbox", f"{base}/?as=ada   signed in as ada, {unread} unread; or as bo, chidi, dara, emil, fen, grace, hana"),
        ("API", f"{base}/docs"),
        ("look", f"{program} inbox ls ada   ·   {program} outbox ls"),
        ("why?", f"{program} why EVENT ada   with a number of the table above"),
        ("forge in", f"{program} ingest github FILE…   payloads of GitHub's webhooks, and see them arrive"),
        ("data", _place(found)),
        ("stop", "Ctrl-C"),
    ):
        screen.print(f"  [bold]{what:<9}[/] {escape(how)}", soft_wrap=True)
    sys.stdout.flush()


def _rows(name: str) -> Command[list[Row]]:
    return (yield ask(name))
