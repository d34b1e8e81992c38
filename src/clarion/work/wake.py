"""Signals that wake relays. They carry no data, and losing one costs latency only (O8)."""

import asyncio
from contextlib import suppress

import structlog

from clarion.store.database import Database
from clarion.store.faults import is_disconnect
from clarion.store.listen import listen
from clarion.work.delays import reconnect_delay

log = structlog.get_logger("clarion.wake")

SPACING_SECONDS = 0.005
"""At most one NOTIFY in so long: one transaction each would serialise the commits of the host."""


class Wake:
    """A bell that one waiter hears."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        """Wake the waiter, now or when it next waits."""
        self._event.set()

    def clear(self) -> None:
        """Forget rings so far: what they announced is about to be looked for."""
        self._event.clear()

    async def wait(self, seconds: float) -> bool:
        """Wait for a ring, at most so long. Returns whether it rang."""
        if seconds < SPACING_SECONDS:  # a timer costs more than the pause
            await asyncio.sleep(seconds)
            return self._event.is_set()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
        return self._event.is_set()


class Signals:
    """Rings the relays of this process at once, and those of others by one debounced NOTIFY."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._channel = f"{database.schema}_wake"
        self._local: list[Wake] = []
        self._outward = asyncio.Event()

    def wake(self) -> Wake:
        """Return a new bell that every signal rings."""
        bell = Wake()
        self._local.append(bell)
        return bell

    def forget(self, bell: Wake) -> None:
        """Ring this bell no more."""
        self._local.remove(bell)

    def publish(self) -> None:
        """Tell every relay that an event may be there now or in a moment. Never waits, never raises."""
        for bell in self._local:
            bell.ring()
        self._outward.set()

    async def send(self) -> None:
        """Send what `publish` asks for to other processes, until cancelled."""
        await self._keep(self._send)

    async def receive(self) -> None:
        """Ring this process's bells when another signals, until cancelled; a lost LISTEN is made again (F71)."""
        await self._keep(self._receive)

    async def _keep(self, work: object) -> None:
        tries = 0
        while True:
            try:
                await work()  # type: ignore[operator]
            except Exception as error:
                if not (is_disconnect(error) or isinstance(error, OSError)):
                    log.exception("signals failed")
                tries += 1
                await asyncio.sleep(reconnect_delay(tries))

    async def _send(self) -> None:
        session = await self._database.connect("signals")
        async with session.connection:
            while True:
                await self._outward.wait()
                self._outward.clear()
                await session.fetch("signal_relays", channel=self._channel)
                await asyncio.sleep(SPACING_SECONDS)

    async def _receive(self) -> None:
        session = await self._database.connect("listen")
        async with session.connection:
            async for _ in listen(session, self._channel):
                for bell in self._local:
                    bell.ring()
