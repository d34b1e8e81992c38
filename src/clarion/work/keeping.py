"""Housekeeping: what was settled long ago goes, in small batches; what nobody here knows is named (O7, O9)."""

import asyncio
from collections.abc import Mapping

import structlog

from clarion.store.database import Database
from clarion.store.faults import is_disconnect
from clarion.work.consumer import Consumer

log = structlog.get_logger("clarion.keeper")

RETENTION_DAYS = 14
"""For which settled events are kept, unless the caller says otherwise (O9)."""

PRUNE_BATCH = 500
"""Rows a transaction: short enough that nobody waits for it."""

PRUNE_PAUSE_SECONDS = 0.05
"""Between two batches, so that a first tidy-up of millions leaves the disk to others."""

LOOK_AT = 10_000
"""Due events that are looked at for types unknown here."""

EVERY_SECONDS = 60.0


class Keeper:
    """Prunes and looks for unknown types, now and then; any number on any hosts get along."""

    def __init__(
        self,
        database: Database,
        consumer: Consumer,
        *,
        retention_days: int = RETENTION_DAYS,
        every_seconds: float = EVERY_SECONDS,
    ) -> None:
        self._database = database
        self._consumer = consumer
        self._retention_days = retention_days
        self._every_seconds = every_seconds
        self._named: set[str] = set()
        self.unknown: Mapping[str, int] = {}
        """Due events of types that the consumer does not know, as of the last look; of the oldest `LOOK_AT`."""
        self.pruned = 0

    async def run(self) -> None:
        """Tidy now and then, until cancelled; a database that is away is tried again the next time."""
        while True:
            try:
                await self.look_for_unknown_types()
                await self.prune()
            except Exception as error:
                if is_disconnect(error):
                    log.warning("housekeeping put off", error=str(error))
                else:
                    log.exception("housekeeping failed")
            await asyncio.sleep(self._every_seconds)

    async def look_for_unknown_types(self) -> Mapping[str, int]:
        """Count due events that wait for a relay which knows their type; each type is logged once (O7)."""
        known = sorted(self._consumer.types())
        async with self._database.session() as session:
            rows = await session.fetch("find_unknown_types", consumer=self._consumer.name, types=known, limit=LOOK_AT)
        self.unknown = {row["type"]: row["count"] for row in rows}
        for name in self.unknown.keys() - self._named:
            self._named.add(name)
            log.warning(
                "events of a type unknown to this relay wait for one that knows it",
                type=name,
                count=self.unknown[name],
                known=known,
            )
        return self.unknown

    async def prune(self) -> int:
        """Delete what is past its retention: events, answers to repeated POSTs, orphaned notes. Returns the events.

        Transaction: one for each batch of `PRUNE_BATCH` rows.
        """
        events = await self._prune("prune_events", days=self._retention_days)
        await self._prune("prune_requests")
        async with self._database.session() as session:
            await session.fetch("prune_notes")
        self.pruned += events
        return events

    async def _prune(self, query: str, **params: int) -> int:
        total = 0
        while True:
            async with self._database.session() as session:
                count = int((await session.fetch(query, limit=PRUNE_BATCH, **params))[0]["count"])
            total += count
            if count < PRUNE_BATCH:
                return total
            await asyncio.sleep(PRUNE_PAUSE_SECONDS)
