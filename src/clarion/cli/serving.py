"""`clarion serve`, `worker` and `migrate`: the processes of a deployment."""

import asyncio
import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from clarion.cli import hints, running
from clarion.cli.exits import PortTaken
from clarion.config import Settings
from clarion.engine import Engine
from clarion.logs import configure_logs
from clarion.model.errors import Invalid
from clarion.store.embedded import EmbeddedPostgres
from clarion.store.migrate import migrate as bring_up
from clarion.store.migrate import pending

serving = typer.Typer()

GRACE_SECONDS = 10
"""How long requests under way have at the end."""

Host = Annotated[str | None, typer.Option(help="Address to listen on. Default: the setting host.")]
Port = Annotated[int | None, typer.Option(min=0, max=65535, help="TCP port; 0 takes a free one. Default: the setting.")]


@serving.command()
def serve(
    *,
    worker: Annotated[bool, typer.Option(help="Run a relay in this process too.")] = True,
    migrate: Annotated[bool, typer.Option("--migrate", help="Bring the schema up to date first.")] = False,
    host: Host = None,
    port: Port = None,
) -> None:
    """Serve the API and the inbox page, until SIGTERM or Ctrl-C."""
    found = running.settings(host=host, port=port)
    configure_logs(found)

    async def work() -> None:
        with bound(found.host, found.port) as listener:
            stopping = running.stop_event()
            async with running.opened(found, migrates=migrate or None) as engine:
                if worker:
                    engine.start_relays()
                print(f"clarion serves {address(listener)}{'' if worker else ', without a relay'}")
                _say_how_to_use_it(found)
                await serve_until(engine, listener, stopping)

    running.run(work)


def _say_how_to_use_it(found: Settings) -> None:
    print(f"  database   {running.where(found)}, schema {found.schema_name}")
    print(f"  sign in    with a token: {hints.command('people', 'token')} PERSON")
    if found.api_key is None:
        print(f"  API        no CLARION_API_KEY is set: {hints.command('key', 'new')} makes a key for programs")
    sys.stdout.flush()


@serving.command()
def worker(
    *, relays: Annotated[int, typer.Option(min=1, max=64, help="How many relays this process runs.")] = 1
) -> None:
    """Relay events to inboxes, until SIGTERM or Ctrl-C: then the batch in hand is finished."""
    found = running.settings()
    configure_logs(found)

    async def work() -> None:
        stopping = running.stop_event()
        async with running.opened(found) as engine:
            engine.start_relays(relays)
            print(f"clarion relays ({relays}) from the database {running.where(found)}", flush=True)
            await stopping.wait()
            print("finishing the batch in hand", flush=True)

    running.run(work)


@serving.command()
def migrate(
    *,
    finish: Annotated[
        bool, typer.Option("--finish", help="Take the steps too that need every old process gone.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--pending", help="Only print what is missing; exit code 1 if anything is.")
    ] = False,
) -> None:
    """Bring the schema up to date: before a new release starts; `--finish` when the old one is gone."""
    if finish and show:
        raise Invalid("--finish and --pending exclude each other: the one changes the schema, the other looks")
    found = running.settings()

    async def work() -> list[str]:
        embedded = None if found.database_url else EmbeddedPostgres(found.data_dir / "postgres")
        url = await asyncio.to_thread(embedded.start) if embedded else str(found.database_url)
        try:
            if show:
                return await asyncio.to_thread(pending, url, schema=found.schema_name)
            return await asyncio.to_thread(
                bring_up,
                url,
                schema=found.schema_name,
                person_key=found.person_key,
                space_key=found.space_key,
                finish=finish,
            )
        finally:
            if embedded:
                await asyncio.to_thread(embedded.close)

    for step in (steps := running.run(work)):
        print(f"{'missing' if show else 'applied'}  {step}")
    if not steps:
        print("the schema is up to date")
    elif show:
        raise typer.Exit(1)


@contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens there. Raises: `PortTaken`, with another port to try."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise Invalid(f"CLARION_HOST={host} is no address of this machine: {error.strerror or error}") from None
    listener = socket.socket(family, kind, protocol)
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(place)
            listener.listen(2048)
        except OSError as error:
            reason = (
                "is in use" if error.errno == errno.EADDRINUSE else f"cannot be taken ({os.strerror(error.errno or 0)})"
            )
            raise PortTaken(
                f"port {port} of {host} {reason}: stop what listens there, or choose another,"
                f" as in --port {(other := port % 65535 + 1)} (CLARION_PORT={other}, `make run PORT={other}`)"
            ) from None
        yield listener


def address(listener: socket.socket) -> str:
    """Return the URL of a socket."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


async def serve_until(engine: Engine, listener: socket.socket, stopping: asyncio.Event, **options: Any) -> None:
    """Serve the app over an open engine until told to stop; requests under way are finished."""
    import uvicorn  # noqa: PLC0415 - frameworks load when they are needed

    from clarion.api import create_app  # noqa: PLC0415 - as above

    class Server(uvicorn.Server):
        """A server that leaves signals to the command: it has an engine to close."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        create_app(engine, **options), log_config=None, access_log=False, timeout_graceful_shutdown=GRACE_SECONDS
    )
    server = Server(config)
    serving_task = asyncio.create_task(server.serve(sockets=[listener]))
    stop_task = asyncio.create_task(stopping.wait())
    await asyncio.wait((serving_task, stop_task), return_when=asyncio.FIRST_COMPLETED)
    if stopping.is_set():
        print("stopping", file=sys.stderr, flush=True)
    server.should_exit = True
    stop_task.cancel()
    await serving_task
