"""What a person wants to hear: threads followed or not, spaces watched or ignored (W5 to W10)."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import typer

from clarion.cli import running
from clarion.cli.inbox import Person
from clarion.cli.naming import find_person, find_space, find_threads
from clarion.engine import Engine
from clarion.inbox import choices
from clarion.model.inbox import Marked, WatchLevel
from clarion.store.database import Command

choosing = typer.Typer()

ThreadName = Annotated[str, typer.Argument(help="A thread: its number as `inbox ls` shows it, or the host's key.")]
SpaceName = Annotated[str, typer.Argument(help="A space: its name, or its key.")]


@choosing.command()
def subscribe(person: Person, thread: ThreadName) -> None:
    """Let a person follow a thread."""

    async def ask(engine: Engine) -> Command[Marked]:
        who, (number,) = await find_person(engine, person), await find_threads(engine, [thread])
        return choices.subscribe(who, number)

    _tell(ask, f"{person} follows {thread}")


@choosing.command()
def unsubscribe(person: Person, thread: ThreadName) -> None:
    """Let a person follow a thread no more: only what names them still tells."""

    async def ask(engine: Engine) -> Command[Marked]:
        who, (number,) = await find_person(engine, person), await find_threads(engine, [thread])
        return choices.unsubscribe(who, number)

    _tell(ask, f"{person} does not follow {thread} any more")


@choosing.command()
def watch(
    person: Person,
    space: SpaceName,
    *,
    level: Annotated[WatchLevel, typer.Option(help="How much of it.")] = WatchLevel.ALL,
    stop: Annotated[bool, typer.Option("--stop", help="Choose nothing for the space any more.")] = False,
) -> None:
    """Let a person hear of everything in a space."""

    async def ask(engine: Engine) -> Command[Marked]:
        who, place = await find_person(engine, person), await find_space(engine, space)
        return choices.unwatch(who, place) if stop else choices.watch(who, place, level)

    _tell(ask, f"{person} has chosen nothing for {space}" if stop else f"{person} watches {space}: {level}")


@choosing.command()
def ignore(person: Person, space: SpaceName) -> None:
    """Let a person hear of nothing in a space, not even when mentioned."""

    async def ask(engine: Engine) -> Command[Marked]:
        return choices.watch(await find_person(engine, person), await find_space(engine, space), WatchLevel.IGNORE)

    _tell(ask, f"{person} ignores {space}")


def _tell(ask: Callable[[Engine], Coroutine[Any, Any, Command[Marked]]], said: str) -> None:
    print(said if running.change(ask).changed else f"{said} already")
