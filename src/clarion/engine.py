"""The engine: builds and wires everything. The only file that knows everyone."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Self

from clarion.config import Settings, load
from clarion.content import RESOLVERS
from clarion.model.errors import Invalid, NotMigrated
from clarion.model.happening import Resolver
from clarion.model.keys import Key, parse_key
from clarion.model.rules import Why
from clarion.notifier import Notifier
from clarion.notifier.why import why
from clarion.store.database import Database
from clarion.store.embedded import EmbeddedPostgres
from clarion.store.migrate import migrate, pending, steps
from clarion.work.change import Changes
from clarion.work.crew import Crew, end
from clarion.work.wake import Signals


class Engine:
    """Clarion in one process: its database, its commands, and its relays where they run here."""

    def __init__(self, settings: Settings | None = None, resolvers: Mapping[str, Resolver] | None = None) -> None:
        self.settings = settings or load()
        self.notifier = Notifier({**RESOLVERS, **(resolvers or {})}, self.settings.person_key)
        self.embedded: EmbeddedPostgres | None = None
        self.crew: Crew | None = None
        self.signals: Signals | None = None
        self._exits = AsyncExitStack()

    async def open(self, *, run_migrations: bool | None = None) -> None:
        """Connect; without `database_url` start or join the embedded PostgreSQL first.

        Migrations run by themselves on the embedded server, elsewhere when asked for.
        Raises: `EmbeddedServerError` where no server can be had, `NotMigrated`, `WrongSchema`, `WrongDatabase`, the
        database's error.
        """
        async with AsyncExitStack() as exits:
            url = self.settings.database_url
            if url is None:
                self.embedded = EmbeddedPostgres(self.settings.data_dir / "postgres")
                url = await asyncio.to_thread(self.embedded.start)
                exits.push_async_callback(asyncio.to_thread, self.embedded.close)
            if run_migrations or (run_migrations is None and self.embedded):
                await asyncio.to_thread(self.migrate, url)
            else:
                await asyncio.to_thread(self._require_schema, url)
            self.database = Database(url, self.settings.schema_name, size=self.settings.pool_size)
            await exits.enter_async_context(self.database)
            self.signals = Signals(self.database)
            sending = asyncio.create_task(self.signals.send())
            exits.push_async_callback(end, sending)
            self.changes = Changes(self.database, self.expect_events)
            self._exits = exits.pop_all()

    async def close(self) -> None:
        """Drain the relays that run here, close the connections, leave the embedded server."""
        await self.stop_relays()
        await self._exits.aclose()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def migrate(self, url: str, *, finish: bool = False) -> list[str]:
        """Bring the schema of the settings up to date; see `store.migrate`. Returns the steps applied."""
        settings = self.settings
        return migrate(
            url,
            schema=settings.schema_name,
            person_key=settings.person_key,
            space_key=settings.space_key,
            finish=finish,
        )

    def _require_schema(self, url: str) -> None:
        schema = self.settings.schema_name
        needed = {step.name for step in steps() if step.phase == "pre"} & set(pending(url, schema=schema))
        if needed:
            raise NotMigrated(f"the schema {schema} lacks {', '.join(sorted(needed))}: run `clarion migrate`")

    def start_relays(self, relays: int = 1) -> Crew:
        """Start relays in this process; `stop_relays` or `close` drains them. Raises: `Invalid` when some run."""
        if self.crew:
            raise Invalid("relays run in this process already: stop them first, or ask for more at once")
        assert self.signals, "open the engine first"  # noqa: S101 - the order of calls, not input
        self.crew = Crew(
            self.database,
            self.signals,
            self.notifier,
            relays=relays,
            batch=self.settings.relay_batch,
            poll_seconds=self.settings.relay_poll_seconds,
            retention_days=self.settings.retention_days,
        )
        self.crew.start()
        return self.crew

    async def stop_relays(self) -> None:
        """Drain the relays that run here, if any do."""
        if self.crew:
            await self.crew.stop()
            self.crew = None

    @asynccontextmanager
    async def relaying(self, relays: int = 1) -> AsyncIterator[Crew]:
        """Relays for as long as the block lasts."""
        try:
            yield self.start_relays(relays)
        finally:
            await self.stop_relays()

    def expect_events(self) -> None:
        """Tell relays that an event may be on its way: they look now, and again in a moment. Harmless if not open."""
        if self.signals:
            self.signals.publish()

    def person(self, value: Any) -> Key:
        """Return a person's key in the host's type. Raises: `WrongKey`."""
        return parse_key(value, self.settings.person_key, "person")

    def space(self, value: Any) -> Key:
        """Return a space's key in the host's type. Raises: `WrongKey`."""
        return parse_key(value, self.settings.space_key, "space")

    async def why(self, event: int, person: Key) -> Why:
        """Return why a person hears of an event, or does not (W16). Raises: `NotFound`."""
        async with self.database.session() as session:
            return await why(session, self.notifier, event, person)
