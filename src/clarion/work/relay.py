"""The relay: claims due events in batches, hands them to one consumer, and settles them, exactly once.

A batch is one transaction. Its row locks are the lease: PostgreSQL frees them when the process dies. What a
relay is about to handle it first notes on a second connection; a note whose events nobody holds is a death (O6).
A batch that fails is undone whole and tried again at half the size, down to one event, which is then charged.
"""

import asyncio
import os
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any, Protocol

import structlog

from clarion.model.event import MAX_ATTEMPTS, Continued, Done, Event, Handled, Later, Outcome, Skipped
from clarion.store.database import Database, Session
from clarion.store.faults import is_disconnect, is_transient
from clarion.work.delays import LOOK_AGAIN_SECONDS, reconnect_delay, retry_delay
from clarion.work.wake import Wake

log = structlog.get_logger("clarion.relay")

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
CLAIMS_FROM_LOWEST = 20
"""After so many claims the next starts from the beginning: a row that became due earlier is met (ENGINE, 3)."""


class Consumer(Protocol):
    """What a relay hands events to. It works in the relay's transaction and never commits."""

    name: str

    def types(self) -> Collection[str]:
        """Return the event types that it knows; others are left for a relay that does (O7)."""
        ...

    async def handle(self, session: Session, events: Sequence[Event]) -> Handled:
        """Apply the events. Raises: whatever went wrong; the relay undoes, halves and charges."""
        ...


def _pass(_point: str) -> None:
    """Where nothing watches: a barrier is passed."""


@dataclass(slots=True)
class Tally:
    """What a relay did since it started; doors show it as metrics."""

    batches: int = 0
    settled: dict[tuple[str, str], int] = field(default_factory=dict)
    notified: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def count(self, counter: dict[Any, int], key: Any, by: int = 1) -> None:
        """Add to one counter."""
        counter[key] = counter.get(key, 0) + by


class Relay:
    """One relay over its own two connections; any number run side by side, on any hosts (O3)."""

    def __init__(
        self,
        database: Database,
        consumer: Consumer,
        wake: Wake,
        *,
        batch: int = 100,
        poll_seconds: float = 2.0,
        random: Random | None = None,
        barrier: Callable[[str], None] = _pass,
    ) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{id(self):x}"
        self.tally = Tally()
        self._database = database
        self._consumer = consumer
        self._wake = wake
        self._most = batch
        self._batch = batch
        self._poll_seconds = poll_seconds
        self._random = random or Random()  # noqa: S311 - jitter, not a secret
        self._barrier = barrier
        self._stopping = asyncio.Event()
        self._from_due = BEGINNING
        self._claims = 0

    def stop(self) -> None:
        """Finish the batch in hand and return from `run` (drain)."""
        self._stopping.set()
        self._wake.ring()

    async def run(self) -> None:
        """Relay until stopped; a lost connection is made again, however long the database is away (F64)."""
        tries = 0
        while not self._stopping.is_set():
            try:
                main, notes = await self._connect()
            except Exception as error:  # noqa: BLE001 - whatever keeps us out, we come back
                tries += 1
                log.warning("database away", error=str(error), tries=tries)
                await self._rest(reconnect_delay(tries))
                continue
            try:
                tries = 0
                await self._relay(main, notes)
            except Exception as error:
                if not is_disconnect(error):
                    log.exception("relay failed outside an event", relay=self.name)
                tries += 1
                await self._rest(reconnect_delay(tries))
            finally:
                await asyncio.gather(main.connection.close(), notes.connection.close(), return_exceptions=True)

    async def drain(self) -> int:
        """Handle what is due now and return how many events were settled or continued; for tests and `demo`."""
        main, notes = await self._connect()
        try:
            total = 0
            while count := await self.turn(main, notes):
                total += count
            return total
        finally:
            await asyncio.gather(main.connection.close(), notes.connection.close())

    async def turn(self, main: Session, notes: Session) -> int:
        """Handle one batch, and one event that is to be handled alone, if any is due. Returns how many moved."""
        return await self._batch_of(main, notes, alone=False) + await self._batch_of(main, notes, alone=True)

    async def _connect(self) -> tuple[Session, Session]:
        main = await self._database.connect("relay", autocommit=False, plan_cache_mode="force_custom_plan")
        return main, await self._database.connect("relay notes")

    async def _relay(self, main: Session, notes: Session) -> None:
        looks: Sequence[float] = LOOK_AGAIN_SECONDS
        while not self._stopping.is_set():
            self._wake.clear()
            if await self.turn(main, notes):
                looks = LOOK_AGAIN_SECONDS
                continue
            pause, looks = (looks[0], looks[1:]) if looks else (self._poll_seconds, ())
            if await self._wake.wait(pause):
                looks = LOOK_AGAIN_SECONDS
            elif not looks:
                self._from_due = BEGINNING

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            pass

    async def _batch_of(self, main: Session, notes: Session, *, alone: bool) -> int:
        started = time.perf_counter()
        async with main.transaction():
            events = await self._claim(main, alone=alone)
            if not events:
                return 0
            if dead := await main.fetch("find_dead_notes", events=[event.id for event in events]):
                return await self._bury(main, dead, events)
            note = await notes.fetch("write_note", events=[event.id for event in events], relay=self.name)
            self._barrier("noted")
            handled = await self._attempt(main, events)
            if handled:
                await self._settle(main, handled.outcomes)
            await main.fetch("delete_notes", notes=[note[0]["id"]])
            self._barrier("before commit")
        self._barrier("after commit")
        self._record(events, handled, time.perf_counter() - started)
        return max(1, len(handled.outcomes)) if handled else 1

    async def _claim(self, main: Session, *, alone: bool) -> list[Event]:
        self._claims += 1
        if alone or self._claims % CLAIMS_FROM_LOWEST == 0:
            self._from_due = BEGINNING
        rows = await main.fetch(
            "claim_events",
            consumer=self._consumer.name,
            types=list(self._consumer.types()),
            limit=1 if alone else self._batch,
            alone=alone,
            from_due=BEGINNING if alone else self._from_due,
        )
        if not alone:
            self._from_due = rows[0]["available_at"] if rows else BEGINNING
        for row in rows:
            del row["available_at"]
        return [Event(**row) for row in rows]

    async def _bury(self, main: Session, dead: Sequence[Mapping[str, Any]], events: Sequence[Event]) -> int:
        """Take what a dead relay held one by one; only a death alone is an attempt."""
        held = {event.id: event for event in events}
        for note in dead:
            mine = [event for event in note["events"] if event in held]
            if len(note["events"]) == 1:
                await self._charge(
                    main, held[mine[0]], f"the relay {note['relay']} died while it handled this event alone"
                )
            else:
                await main.fetch("set_alone", events=mine)
        await main.fetch("delete_notes", notes=[note["id"] for note in dead])
        log.warning("a relay died", relays=[note["relay"] for note in dead], event_ids=sorted(held))
        return 1

    async def _attempt(self, main: Session, events: Sequence[Event]) -> Handled | None:
        """Return what the consumer did; after a failure nothing is left of it, and what comes next is arranged."""
        try:
            async with main.transaction():
                handled = await self._consumer.handle(main, events)
        except Exception as error:
            if is_disconnect(error):
                raise
            if len(events) > 1:
                self._batch = max(1, len(events) // 2)
                log.info("batch failed, halving", size=self._batch, error=repr(error))
                return None
            return await self._fail(main, events[0], error)
        self._batch = min(self._most, self._batch * 2)
        return handled

    async def _fail(self, main: Session, event: Event, error: Exception) -> Handled:
        if is_transient(error):
            return Handled({event.id: Later(self._random.uniform(0.01, 0.1), type(error).__name__)})
        log.error("event failed", event_id=event.id, type=event.type, attempt=event.attempts + 1, error=repr(error))
        self.tally.count(self.tally.failed, event.type)
        await self._charge(main, event, f"{type(error).__name__}: {error}")
        return Handled({})

    async def _charge(self, main: Session, event: Event, error: str) -> None:
        delay = retry_delay(event.attempts + 1, self._random)
        rows = await main.fetch(
            "charge_event", event=event.id, error=error.replace("\0", ""), delay=delay, max_attempts=MAX_ATTEMPTS
        )
        if rows and rows[0]["state"] == "set_aside":
            log.error("event set aside", event_id=event.id, type=event.type, error=error)
            self.tally.count(self.tally.settled, (event.type, "set_aside"))

    async def _settle(self, main: Session, outcomes: Mapping[int, Outcome]) -> None:
        if not outcomes:
            return
        ids = sorted(outcomes)
        columns = [_columns(outcomes[event]) for event in ids]
        await main.fetch(
            "settle_events",
            ids=ids,
            states=[column[0] for column in columns],
            outcomes=[column[1] for column in columns],
            delays=[column[2] for column in columns],
            cursors=[column[3] for column in columns],
        )

    def _record(self, events: Sequence[Event], handled: Handled | None, seconds: float) -> None:
        self.tally.batches += 1
        self.tally.seconds += seconds
        if not handled:
            return
        for event in events:
            if outcome := handled.outcomes.get(event.id):
                self.tally.count(self.tally.settled, (event.type, type(outcome).__name__.lower()))
                log.debug("event handled", event_id=event.id, type=event.type, outcome=outcome)
        for reason, count in handled.notified.items():
            self.tally.count(self.tally.notified, reason, count)


def _columns(outcome: Outcome) -> tuple[str, str | None, float, str | None]:
    match outcome:
        case Done(text):
            return "done", text or None, 0.0, None
        case Skipped(why):
            return "skipped", why, 0.0, None
        case Later(seconds, why):
            return "waiting", why or None, seconds, None
        case Continued(cursor):
            return "waiting", None, 0.0, str(cursor)
