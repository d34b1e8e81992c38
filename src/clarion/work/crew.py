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


END_AGAIN_SECONDS = 0.5
"""After so long a task that goes on is cancelled once more."""


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
        await end(*self._helpers)
        for relay in self.relays:
            relay.stop()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            await end(*late)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for wake in self._wakes:
            self._signals.forget(wake)
        self._wakes, self._tasks, self._helpers = [], [], []


async def end(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks until they have ended: a cancellation that meets a timeout may be lost (Python 3.11)."""
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=END_AGAIN_SECONDS)


def _task(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(work, name=f"clarion {name}")
