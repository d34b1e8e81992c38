"""The relay: claims due events in batches, hands them to one consumer, and settles them, exactly once.

A batch is one transaction. Its row locks are the lease: PostgreSQL frees them when the process dies. What a
relay is about to handle it first notes on a second connection; a note whose events nobody holds is a death (O6).
So a relay that lives never lets go of its locks before its note is gone: an orderly end is no death.
A batch that fails is undone whole and tried again at half the size, down to one event, which is then charged.
"""

import asyncio
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from uuid import uuid4

import structlog

from clarion.model.event import Event, Handled, Later
from clarion.store.database import Database, Session
from clarion.store.faults import is_disconnect, is_transient
from clarion.work.consumer import Consumer
from clarion.work.delays import LOOK_AGAIN_SECONDS, TRANSIENT_SECONDS, Start, reconnect_delay
from clarion.work.settling import bury, charge, check, describe, settle
from clarion.work.tally import Tally
from clarion.work.wake import CONNECT_SECONDS, Wake

__all__ = ["Consumer", "Relay"]

log = structlog.get_logger("clarion.relay")

HANDLE_SECONDS = 50.0
"""The most that a consumer may take for a batch: it fails before the server cuts an idle transaction (60 s)."""


def _pass(_point: str) -> None:
    """Where nothing watches: a barrier is passed."""


class Relay:
    """One relay over its own two connections; any number run side by side, on any hosts (O3).

    `singly` is shared by the relays of a process: one event is handled alone at a time, so that a process that
    dies is charged to the event which was alone, and to no other.
    """

    def __init__(
        self,
        database: Database,
        consumer: Consumer,
        wake: Wake,
        *,
        batch: int = 100,
        poll_seconds: float = 2.0,
        singly: asyncio.Lock | None = None,
        handle_seconds: float = HANDLE_SECONDS,
        random: Random | None = None,
        barrier: Callable[[str], None] = _pass,
    ) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        self.tally = Tally()
        self._database = database
        self._consumer = consumer
        self._wake = wake
        self._most = batch
        self._batch = batch
        self._poll_seconds = poll_seconds
        self._singly = singly or asyncio.Lock()
        self._handle_seconds = handle_seconds
        self._random = random or Random()  # noqa: S311 - jitter, not a secret
        self._barrier = barrier
        self._stopping = asyncio.Event()
        self._starts = {False: Start(), True: Start()}
        self._tries = 0

    def stop(self) -> None:
        """Finish the batch in hand and return from `run` (drain). Call it in the relay's loop."""
        self._stopping.set()
        self._wake.ring()

    async def run(self) -> None:
        """Relay until stopped; a lost connection is made again, however long the database is away (F64).

        Cancelled, it undoes the batch in hand as if it had not been claimed.
        """
        while not self._stopping.is_set():
            try:
                main, notes = await self._connect()
            except Exception as error:  # noqa: BLE001 - whatever keeps us out, we come back
                self._tries += 1
                log.warning("database away", relay=self.name, error=describe(error), tries=self._tries)
                await self._rest(reconnect_delay(self._tries))
                continue
            try:
                await self._relay(main, notes)
            except Exception as error:
                if is_disconnect(error) or main.connection.closed or notes.connection.closed:
                    log.warning("connection lost", relay=self.name, error=describe(error))
                else:
                    log.exception("relay failed outside an event", relay=self.name)
                self._tries += 1
                await self._rest(reconnect_delay(self._tries))
            finally:
                await _close(main, notes)

    async def drain(self) -> int:
        """Handle what is due now and return how many events were settled or continued; for tests and `demo`."""
        main, notes = await self._connect()
        try:
            total, count = 0, 1
            while count:
                if not (count := await self.turn(main, notes)):
                    for start in self._starts.values():
                        start.rewind()
                    count = await self.turn(main, notes)
                total += count
            return total
        finally:
            await _close(main, notes)

    async def turn(self, main: Session, notes: Session) -> int:
        """Handle one batch, and one event that is to be handled alone, if any is due. Returns how many moved."""
        moved = await self._batch_of(main, notes, alone=False)
        if not self._singly.locked():
            async with self._singly:
                moved += await self._batch_of(main, notes, alone=True)
        return moved

    async def _connect(self) -> tuple[Session, Session]:
        """Connect twice. READ COMMITTED whatever the host's default: a statement sees what is there after the locks."""
        async with asyncio.timeout(CONNECT_SECONDS):
            main = await self._database.connect(
                "relay",
                autocommit=False,
                default_transaction_isolation="read\\ committed",
                join_collapse_limit="1",  # joins as written: a search for their order costs more than it finds
            )
            try:
                return main, await self._database.connect("relay notes")
            except BaseException:
                await main.connection.close()
                raise

    async def _relay(self, main: Session, notes: Session) -> None:
        looks: Sequence[float] = LOOK_AGAIN_SECONDS
        while not self._stopping.is_set():
            self._wake.clear()
            if self._stopping.is_set():
                return
            moved = await self.turn(main, notes)
            self._tries = 0
            if moved:
                looks = LOOK_AGAIN_SECONDS
                continue
            pause, looks = (looks[0], looks[1:]) if looks else (self._poll_seconds, ())
            if await self._wake.wait(pause):
                looks = LOOK_AGAIN_SECONDS

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            pass

    async def _batch_of(self, main: Session, notes: Session, *, alone: bool) -> int:
        started = time.perf_counter()
        events: Sequence[Event] = ()
        noted = False
        try:
            async with main.transaction():
                if not (events := await self._claim(main, alone=alone)):
                    return 0
                ids = [event.id for event in events]
                if dead := await main.fetch("find_dead_notes", events=ids):
                    await bury(main, dead, events, self.tally, self._random)
                    return 1
                noted = True
                handled = await self._noted(main, notes, events)
        except (asyncio.CancelledError, KeyboardInterrupt):
            if noted:  # the note may have gone with what was just rolled back
                await self._withdraw(notes)
            raise
        except Exception as error:
            if not noted or main.connection.closed or notes.connection.closed:
                raise
            await self._withdraw(notes)
            await self._refused(main, events, error)
            return 1
        self._barrier("after commit")
        self._record(events, handled, time.perf_counter() - started)
        return len(handled.outcomes) if handled else 1

    async def _claim(self, main: Session, *, alone: bool) -> list[Event]:
        start = self._starts[alone]
        rows = await main.fetch(
            "claim_events",
            consumer=self._consumer.name,
            types=list(self._consumer.types()),
            limit=1 if alone else self._batch,
            alone=alone,
            from_due=start.next(time.monotonic()),
        )
        start.found(rows[0]["available_at"] if rows else None, time.monotonic())
        for row in rows:
            del row["available_at"]
        return [Event(**row) for row in rows]

    async def _noted(self, main: Session, notes: Session, events: Sequence[Event]) -> Handled | None:
        """Handle events under a note, which goes with the locks: at the commit, or at an orderly end just before."""
        try:
            await notes.fetch("write_note", events=[event.id for event in events], relay=self.name)
            self._barrier("noted")
            handled = await self._attempt(main, events)
            await main.fetch("withdraw_notes", relay=self.name)
            self._barrier("before commit")
        except (asyncio.CancelledError, KeyboardInterrupt):
            await self._withdraw(notes)
            raise
        return handled

    async def _attempt(self, main: Session, events: Sequence[Event]) -> Handled | None:
        """Return what the consumer did; after a failure nothing is left of it, and what comes next is arranged."""
        try:
            async with main.transaction():
                async with asyncio.timeout(self._handle_seconds):
                    handled = await self._consumer.handle(main, events)
                check(handled, events)
                await settle(main, handled.outcomes)
        except (Exception, asyncio.CancelledError) as error:
            if main.connection.closed or _cancelled():
                raise
            return await self._undone(main, events, error)
        if not events[0].alone:
            self._batch = min(self._most, self._batch * 2)
        return handled

    async def _undone(self, main: Session, events: Sequence[Event], error: BaseException) -> Handled | None:
        """Arrange what comes after a failure: half the size, or for one event an attempt, or a pause without one."""
        ids = [event.id for event in events]
        if len(events) > 1:
            self._batch = max(1, len(events) // 2)
            self.tally.halved += 1
            log.info("batch failed, halving", size=self._batch, event_ids=ids, error=describe(error))
            return None
        (event,) = events
        if is_transient(error):
            pause = Handled({event.id: Later(self._random.uniform(*TRANSIENT_SECONDS), type(error).__name__)})
            await settle(main, pause.outcomes)
            return pause
        log.error("event failed", event_id=event.id, type=event.type, attempt=event.attempts + 1, error=describe(error))
        await charge(main, event, describe(error), self.tally, self._random)
        return None

    async def _refused(self, main: Session, events: Sequence[Event], error: Exception) -> None:
        """The commit itself failed, and the locks are gone: charge it all the same, unless it is the moment's."""
        if len(events) == 1 and is_transient(error):
            await self._rest(self._random.uniform(*TRANSIENT_SECONDS))
            return
        async with main.transaction():
            await self._undone(main, events, error)

    async def _withdraw(self, notes: Session) -> None:
        """Take our note back. Where that cannot be, its events are handled alone, as after a death."""
        with suppress(Exception):
            await notes.fetch("withdraw_notes", relay=self.name)

    def _record(self, events: Sequence[Event], handled: Handled | None, seconds: float) -> None:
        self.tally.batches += 1
        self.tally.seconds += seconds
        if not handled:
            return
        by_id = {event.id: event for event in events}
        self.tally.count_all(
            self.tally.settled,
            Counter((by_id[id_].type, type(outcome).__name__.lower()) for id_, outcome in handled.outcomes.items()),
        )
        log.debug("events handled", outcomes=handled.outcomes)
        self.tally.count_all(self.tally.notified, handled.notified)


def _cancelled() -> bool:
    """Whether it is us who are cancelled, and not something that a consumer waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _close(*sessions: Session) -> None:
    await asyncio.gather(*(session.connection.close() for session in sessions), return_exceptions=True)
