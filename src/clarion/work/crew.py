"""A crew: relays, their signals and their housekeeping as tasks of one process, started and drained together."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from clarion.store.database import Database
from clarion.work.consumer import Consumer
from clarion.work.keeping import RETENTION_DAYS, Keeper
from clarion.work.relay import Relay
from clarion.work.wake import Signals

DRAIN_SECONDS = 25.0
"""For the batches in hand; less than the 30 s after which most supervisors kill."""


class Crew:
    """Runs relays until told to stop; they finish the batch in hand first."""

    def __init__(
        self,
        database: Database,
        signals: Signals,
        consumer: Consumer,
        *,
        relays: int,
        batch: int,
        poll_seconds: float,
        retention_days: int = RETENTION_DAYS,
    ) -> None:
        self._signals = signals
        self._wakes = [signals.wake() for _ in range(relays)]
        singly = asyncio.Lock()
        self.relays: Sequence[Relay] = [
            Relay(database, consumer, wake, batch=batch, poll_seconds=poll_seconds, singly=singly)
            for wake in self._wakes
        ]
        self.keeper = Keeper(database, consumer, retention_days=retention_days)
        self._tasks: list[asyncio.Task[None]] = []
        self._helpers: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start the relays, listen for signals, keep house."""
        self._tasks = [_task(relay.run(), f"relay {number}") for number, relay in enumerate(self.relays)]
        self._helpers = [_task(self._signals.receive(), "signals"), _task(self.keeper.run(), "keeper")]

    async def stop(self, seconds: float = DRAIN_SECONDS) -> None:
        """Drain: no new batch is claimed, the one in hand is finished, then everything is closed.

        A batch that takes longer than this is undone, as if it had not been claimed.
        """
        for helper in self._helpers:
            helper.cancel()
        for relay in self.relays:
            relay.stop()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            for task in late:
                task.cancel()
        await asyncio.gather(*self._tasks, *self._helpers, return_exceptions=True)
        for wake in self._wakes:
            self._signals.forget(wake)
        self._wakes, self._tasks, self._helpers = [], [], []


def _task(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(work, name=f"clarion {name}")
