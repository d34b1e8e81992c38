"""`clarion people` and `clarion key`: who is there, and how they and programs sign in."""

from secrets import token_urlsafe
from typing import Annotated

import typer

from clarion.cli import running
from clarion.cli.inbox import Person
from clarion.cli.naming import find_person
from clarion.content import people as room
from clarion.content.outcome import Saved
from clarion.engine import Engine
from clarion.store.database import Command

people = typer.Typer(help="People (your users), where Clarion keeps them.", no_args_is_help=True)
key = typer.Typer(help="API keys, with which programs use the HTTP API.", no_args_is_help=True)


@people.command("add")
def add_person(
    person: Annotated[str, typer.Argument(metavar="KEY", help="The person's key, of the type that person_key says.")],
    handle: Annotated[str, typer.Argument(help="What mentions name them by.")],
    *,
    name: Annotated[str, typer.Option(help="What they are called.")] = "",
    address: Annotated[str, typer.Option(help="Their mail address; it counts once it is verified.")] = "",
) -> None:
    """Add a person, or change one that is there."""

    async def ask(engine: Engine) -> Command[Saved]:
        return room.add_person(engine.person(person), handle=handle, name=name, address=address)

    saved = running.change(ask)
    print(f"{'added' if saved.created else 'changed' if saved.changed else 'as it was:'} @{handle} ({saved.key})")


@people.command("token")
def issue_token(
    person: Person,
    *,
    days: Annotated[int, typer.Option(min=1, max=3650, help="How long it holds.")] = 30,
) -> None:
    """Print a token with which a person uses the inbox; it is shown this once."""
    from clarion.api import credentials  # noqa: PLC0415 - the API's frameworks load when they are needed

    secret, nonce = token_urlsafe(32), credentials.new_nonce()

    async def ask(engine: Engine) -> Command[credentials.Issued]:
        who = await find_person(engine, person)
        return credentials.issue_token(who, host_secret=secret, nonce=nonce, days=days, label="command line")

    running.change(ask)
    print(credentials.make_token(secret, nonce))


@key.callback()
def begin() -> None:
    """API keys, with which programs use the HTTP API."""


@key.command("new")
def new_key(*, label: Annotated[str, typer.Option(help="What the key is for.")] = "") -> None:
    """Print a new API key; it is shown this once, and only its digest is kept."""
    from clarion.api import credentials  # noqa: PLC0415 - as above

    async def ask(_: Engine) -> Command[str]:
        return credentials.add_host_key(label[: credentials.MAX_LABEL_CHARS])

    print(running.change(ask))
