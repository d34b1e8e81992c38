"""Signals that wake relays. They carry no data, and losing one costs latency only (O8)."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from clarion.store.database import Database
from clarion.store.faults import is_disconnect
from clarion.store.listen import QUIET_SECONDS, Deaf, listen
from clarion.work.delays import reconnect_delay

log = structlog.get_logger("clarion.wake")

SPACING_SECONDS = 0.005
"""At most one NOTIFY in so long: one transaction each would serialise the commits of the host."""

CONNECT_SECONDS = 10.0
"""For a connection to be made; a host that swallows packets is no answer."""

DEAF_SECONDS = 60.0
"""Before LISTEN is tried again where signals do not arrive; polling delivers meanwhile."""


class Wake:
    """A bell that one waiter hears. Anybody may ring it, from any thread."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._rung = False

    def ring(self) -> None:
        """Wake the waiter, now or when it next waits. Ringing again before it has looked costs nothing."""
        if self._rung:
            return
        self._rung = True
        loop = self._loop
        if loop is None or loop is _running_loop():
            self._event.set()
        else:
            with suppress(RuntimeError):  # its loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._event.set)

    def clear(self) -> None:
        """Forget rings so far: what they announced is about to be looked for."""
        self._loop = _running_loop()
        self._rung = False
        self._event.clear()

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait for a ring, at most so long. Returns whether it rang."""
        self._loop = asyncio.get_running_loop()
        if seconds is not None and seconds < SPACING_SECONDS:  # a timer costs more than the pause
            await asyncio.sleep(seconds)
            return self._event.is_set()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
        return self._event.is_set()


class Signals:
    """Rings the relays of this process at once, and those of others by one debounced NOTIFY."""

    def __init__(self, database: Database, *, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._database = database
        self._channel = f"{database.schema}_wake"[-63:]
        self._quiet_seconds = quiet_seconds
        self._local: list[Wake] = []
        self._outward = Wake()
        self._tries: Counter[str] = Counter()

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
        self._ring()
        self._outward.ring()

    async def send(self) -> None:
        """Send what `publish` asks for to other processes, until cancelled."""
        await self._keep("send", self._send)

    async def receive(self) -> None:
        """Ring this process's bells when another signals, until cancelled; a lost LISTEN is made again (F71)."""
        await self._keep("receive", self._receive)

    def _ring(self) -> None:
        for bell in tuple(self._local):
            bell.ring()

    async def _keep(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            pause = None
            try:
                await work()
            except Deaf as error:
                pause = DEAF_SECONDS
                log.warning("signals do not arrive, relays poll", error=str(error), channel=self._channel)
            except Exception as error:
                if not (is_disconnect(error) or isinstance(error, OSError)):
                    log.exception("signals failed")
            self._tries[name] += 1
            await asyncio.sleep(pause or reconnect_delay(self._tries[name]))

    async def _send(self) -> None:
        async with asyncio.timeout(CONNECT_SECONDS):
            session = await self._database.connect("signals")
        async with session.connection:
            while True:
                await self._outward.wait()
                self._outward.clear()
                try:
                    await session.fetch("signal_relays", channel=self._channel)
                except Exception:
                    self._outward.ring()  # said once more on the next connection
                    raise
                self._tries["send"] = 0
                await asyncio.sleep(SPACING_SECONDS)

    async def _receive(self) -> None:
        async with asyncio.timeout(CONNECT_SECONDS):
            session = await self._database.connect("listen")
        async with session.connection:
            async for _ in listen(session, self._channel, quiet_seconds=self._quiet_seconds):
                self._tries["receive"] = 0
                self._ring()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
