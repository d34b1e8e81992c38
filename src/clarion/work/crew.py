"""A crew: relays and their signals as tasks of one process, started together and drained together."""

import asyncio
from collections.abc import Sequence

from clarion.store.database import Database
from clarion.work.relay import Consumer, Relay
from clarion.work.wake import Signals


class Crew:
    """Runs relays until told to stop; they finish the batch in hand first."""

    def __init__(
        self, database: Database, signals: Signals, consumer: Consumer, *, relays: int, batch: int, poll_seconds: float
    ) -> None:
        self._signals = signals
        self._wakes = [signals.wake() for _ in range(relays)]
        self.relays: Sequence[Relay] = [
            Relay(database, consumer, wake, batch=batch, poll_seconds=poll_seconds) for wake in self._wakes
        ]
        self._tasks: list[asyncio.Task[None]] = []
        self._listening: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the relays and listen for signals."""
        self._tasks = [asyncio.create_task(relay.run()) for relay in self.relays]
        self._listening = asyncio.create_task(self._signals.receive())

    async def stop(self) -> None:
        """Drain: no new batch is claimed, the one in hand is finished, then everything is closed."""
        for relay in self.relays:
            relay.stop()
        await asyncio.gather(*self._tasks)
        if self._listening:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        for wake in self._wakes:
            self._signals.forget(wake)
        self._wakes = []
