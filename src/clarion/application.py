"""The one application object of a host: `clarion = Clarion()`."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, TypeVar, overload

import structlog

from clarion.config import Settings
from clarion.engine import Engine
from clarion.logs import configure_logs
from clarion.model.happening import Resolver
from clarion.model.keys import Key
from clarion.model.rules import Why
from clarion.outbox.publish import KeyTypes, NewEvent, notify, publish, publish_many
from clarion.store.connect import AsyncConnection, Pending, SyncConnection, run
from clarion.store.database import Command
from clarion.store.queries import Queries

T = TypeVar("T")


class Clarion:
    """Clarion for a host: publish in your own transaction, and run the relays in your own process if you like.

    `settings` come from the environment, `.env` and `clarion.toml` where none are given; `resolvers` say what
    your own event types mean. Making one connects to nothing; publishing needs a connection of yours alone.
    """

    def __init__(self, settings: Settings | None = None, resolvers: Mapping[str, Resolver] | None = None) -> None:
        self.engine = Engine(settings, resolvers)
        known = self.engine.settings
        self._queries = Queries(known.schema_name)
        self._types = KeyTypes(known.person_key, known.space_key)

    @asynccontextmanager
    async def lifespan(self, _app: object = None) -> AsyncIterator[None]:
        """Connect, and relay inside this process, for as long as the block lasts: `FastAPI(lifespan=…)`.

        Run `clarion worker` beside the host from the first deployment on. Logs go to stderr as the settings say,
        unless the host has configured structlog. Raises: as `Engine.open`.
        """
        if not structlog.is_configured():
            configure_logs(self.engine.settings)
        async with self.engine, self.engine.relaying():
            yield

    @overload
    def publish(
        self,
        connection: SyncConnection,
        type: str,
        keys: Mapping[str, Any] = ...,
        *,
        actor: Key | None = ...,
        thread: str | None = ...,
        post: str | None = ...,
        space: Key | None = ...,
        available_at: datetime | None = ...,
        idempotency_key: str | None = ...,
    ) -> int: ...
    @overload
    def publish(
        self,
        connection: AsyncConnection,
        type: str,
        keys: Mapping[str, Any] = ...,
        *,
        actor: Key | None = ...,
        thread: str | None = ...,
        post: str | None = ...,
        space: Key | None = ...,
        available_at: datetime | None = ...,
        idempotency_key: str | None = ...,
    ) -> Pending[int]: ...
    def publish(
        self,
        connection: Any,
        type: str,  # noqa: A002 - the field's own word
        keys: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> int | Pending[int]:
        """Publish an event in your transaction on this connection, and return its id.

        `type` is dotted and past tense (`comment.created`); `keys` are those of what changed, never its content.
        `thread` and `post` name it by your own keys: required for `*.deleted`, advised for all. Transaction:
        yours; it is neither begun, committed nor rolled back. Guarantee: the event exists exactly if your change
        does. Raises: `AutocommitRefused`, `Invalid`, `TooLarge`, `WrongKey`, `Conflict`. Cost: one statement.
        """
        event = NewEvent(type=type, keys=keys or {}, **named)
        return self._run(connection, publish(event, self._types), f"publish({type!r})")

    @overload
    def publish_many(self, connection: SyncConnection, events: Iterable[NewEvent]) -> list[int]: ...
    @overload
    def publish_many(self, connection: AsyncConnection, events: Iterable[NewEvent]) -> Pending[list[int]]: ...
    def publish_many(self, connection: Any, events: Iterable[NewEvent]) -> list[int] | Pending[list[int]]:
        """Publish many events in one statement of your transaction; return their ids. Otherwise as `publish`."""
        return self._run(connection, publish_many(list(events), self._types), "publish_many")

    @overload
    def notify(
        self,
        connection: SyncConnection,
        to: Iterable[Key],
        *,
        kind: str = ...,
        title: str,
        link: str = ...,
        body: str = ...,
        actor: Key | None = ...,
        idempotency_key: str | None = ...,
    ) -> int: ...
    @overload
    def notify(
        self,
        connection: AsyncConnection,
        to: Iterable[Key],
        *,
        kind: str = ...,
        title: str,
        link: str = ...,
        body: str = ...,
        actor: Key | None = ...,
        idempotency_key: str | None = ...,
    ) -> Pending[int]: ...
    def notify(self, connection: Any, to: Iterable[Key], **named: Any) -> int | Pending[int]:
        """Tell some people something directly: "your export is ready". Returns the event's id.

        Writes a thread, a post and an event of its own in your transaction; they hear as `addressed`.
        Raises: as `publish`. Cost: one statement.
        """
        return self._run(connection, notify(to, types=self._types, **named), "notify")

    @overload
    def run(self, connection: SyncConnection, command: Command[T]) -> T: ...
    @overload
    def run(self, connection: AsyncConnection, command: Command[T]) -> Pending[T]: ...
    def run(self, connection: Any, command: Command[T]) -> T | Pending[T]:
        """Run a command of `clarion.content` or `clarion.inbox` in your transaction on this connection.

        `clarion.run(db, posts.add_comment("comment:5", thread="issue:12", body=…))` writes the row and its event.
        Raises: as `publish`, and what the command raises. A deadlock with others is yours to retry.
        """
        return self._run(connection, command, getattr(command, "__name__", "a command"))

    async def why(self, event: int, person: Key) -> Why:
        """Return why a person hears of an event, or does not (W16). Raises: `NotFound`, `WrongKey`."""
        return await self.engine.why(event, self.engine.person(person))

    def _run(self, connection: Any, command: Command[T], call: str) -> T | Pending[T]:
        result: T | Pending[T] = run(connection, self._queries, command, call)
        self.engine.expect_events()
        return result
