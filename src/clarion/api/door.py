"""The door that every route goes through: a command in, one transaction, an answer out.

Kept here: routes decide nothing and open nothing; they name a command, its arguments, and how its result is
shown.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel

from clarion.api.gate import Caller, HostCaller, PersonCaller
from clarion.api.idempotency import MAX_KEY_CHARS, Answer, Once, do_once
from clarion.api.perform import perform
from clarion.engine import Engine
from clarion.model.errors import Invalid
from clarion.model.keys import Key
from clarion.store.database import Command

P = ParamSpec("P")
T = TypeVar("T")
Shown = BaseModel | tuple[int, BaseModel]
"""What is answered, with 200 or with a status of its own."""


@dataclass(frozen=True, slots=True)
class Door:
    """One request's way in."""

    engine: Engine
    caller: Caller
    note: dict[str, Any] = field(default_factory=dict)
    """What the request's line in the log says of it."""
    once: Once | None = None

    @property
    def me(self) -> Key:
        """The person whose token this is."""
        if self.caller.person is None:
            raise AssertionError
        return self.caller.person

    def person(self, key: object) -> Key:
        """Return a person's key in the host's type. Raises: `WrongKey`."""
        return self.engine.person(key)

    def person_if(self, key: object | None) -> Key | None:
        """Return a person's key in the host's type, or None. Raises: `WrongKey`."""
        return None if key is None else self.engine.person(key)

    def people(self, keys: list[str | int]) -> list[Key]:
        """Return people's keys in the host's type. Raises: `WrongKey`."""
        return [self.engine.person(key) for key in keys]

    def space(self, key: object) -> Key:
        """Return a space's key in the host's type. Raises: `WrongKey`."""
        return self.engine.space(key)

    async def run(self, command: Callable[P, Command[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a command in a transaction of its own and return its result."""
        return await perform(self.engine, command, *args, **kwargs)

    async def answer(
        self, show: Callable[[T], Shown], command: Callable[P, Command[T]], *args: P.args, **kwargs: P.kwargs
    ) -> Response:
        """Run a command and answer with its result; a request that was made before gets the answer of then."""
        return respond(await self.settle(show, command, *args, **kwargs))

    async def settle(
        self, show: Callable[[T], Shown], command: Callable[P, Command[T]], *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        """Run a command once and return the answer that was kept."""

        def present(result: T) -> Answer:
            shown = show(result)
            status, body = shown if isinstance(shown, tuple) else (200, shown)
            self.note.update(_events_of(body))
            return Answer(status, body.model_dump_json())

        def whole() -> Command[Answer]:
            return do_once(self.once, command(*args, **kwargs), present)

        return await perform(self.engine, whole)


def _events_of(result: object) -> dict[str, Any]:
    """Return the events that a command published, for the log."""
    events = getattr(result, "events", None) or [getattr(result, "event", None)]
    named = [str(event) for event in events if event is not None]
    return {"event_ids": named} if named else {}


def respond(answer: Answer) -> Response:
    """Return the response of an answer."""
    headers = {"Cache-Control": "no-store"}
    if answer.repeated:
        headers["Idempotency-Replayed"] = "true"
    return Response(answer.body, answer.status, headers, "application/json")


def respond_if_new(request: Request, body: BaseModel) -> Response:
    """Return what is shown with its ETag, or 304 when the client has the very same (I6)."""
    text = body.model_dump_json()
    etag = f'"{sha256(text.encode()).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
    known = {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}
    if etag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(text, 200, headers, "application/json")


def engine_of(request: Request) -> Engine:
    """Return the engine that the app was made for."""
    engine: Engine = request.app.state.engine
    return engine


async def _once(
    request: Request,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=MAX_KEY_CHARS,
            description="Of your making, a new one for each request: sent again with the same request within a day, "
            "it gets the same answer and changes nothing; with another request it is refused.",
        ),
    ] = None,
) -> tuple[str, bytes, str] | None:
    if idempotency_key is None:
        return None
    if not idempotency_key.isprintable():
        raise Invalid("Idempotency-Key: printable characters only")
    said = sorted((name, value) for name, value in request.headers.items() if name.startswith(_SAID))
    target = f"{request.url.path}?{request.url.query}\n{said}"
    return idempotency_key, await request.body(), target


def _note(request: Request) -> dict[str, Any]:
    note: dict[str, Any] = request.scope["state"].setdefault("log", {})
    return note


_SAID = ("content-type", "ce-")
"""Headers that belong to what a request asks for: CloudEvents in binary mode have their attributes there."""

_Once = Annotated[tuple[str, bytes, str] | None, Depends(_once)]


def _with_once(door: Door, method: str, given: tuple[str, bytes, str] | None) -> Door:
    if given is None:
        return door
    key, body, target = given
    return replace(door, once=Once.of(door.caller.name, key, method, target, body))


async def _host_door(request: Request, caller: HostCaller) -> Door:
    return Door(engine_of(request), caller, _note(request))


async def _host_post(request: Request, caller: HostCaller, once: _Once) -> Door:
    return _with_once(Door(engine_of(request), caller, _note(request)), request.method, once)


async def _person_door(request: Request, caller: PersonCaller) -> Door:
    return Door(engine_of(request), caller, _note(request))


async def _person_post(request: Request, caller: PersonCaller, once: _Once) -> Door:
    return _with_once(Door(engine_of(request), caller, _note(request)), request.method, once)


HostDoor = Annotated[Door, Depends(_host_door)]
HostPost = Annotated[Door, Depends(_host_post)]
"""The door of a POST, which takes an Idempotency-Key."""
PersonDoor = Annotated[Door, Depends(_person_door)]
PersonPost = Annotated[Door, Depends(_person_post)]
