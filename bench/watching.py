"""What is counted beside the time: statements by name, WAL, HOT updates. Exact, unlike times."""

import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

from bench.figures import Side
from clarion.store.database import Database, Row, Session
from clarion.store.queries import Statement
from clarion.work.consumer import Consumer
from clarion.work.relay import Relay
from clarion.work.wake import Wake


class Watch:
    """Statements that were sent, by name: how many, and the seconds until their answers."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.seconds: dict[str, float] = {}

    def clear(self) -> None:
        """Forget what was seen so far."""
        self.counts.clear()
        self.seconds.clear()

    def shares(self) -> dict[str, dict[str, float]]:
        """Return the statements, costliest first: their number, and their share of all the statements' time."""
        total = sum(self.seconds.values()) or 1.0
        return {
            name: {"count": self.counts[name], "share": round(seconds / total, 3), "ms": round(seconds * 1000, 1)}
            for name, seconds in sorted(self.seconds.items(), key=lambda pair: -pair[1])
        }


class WatchedSession(Session):
    """A session that tells its watch of every statement."""

    def __init__(self, inner: Session, watch: Watch) -> None:
        super().__init__(inner.connection, inner.queries)
        self._watch = watch

    async def send(self, statement: Statement) -> list[Row]:
        started = time.perf_counter()
        rows = await super().send(statement)
        self._watch.counts[statement.name] += 1
        spent = self._watch.seconds.get(statement.name, 0.0)
        self._watch.seconds[statement.name] = spent + time.perf_counter() - started
        return rows


class WatchedDatabase(Database):
    """A database all of whose sessions are watched."""

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(url, **options)
        self.watch = Watch()

    async def connect(self, purpose: str, *, autocommit: bool = True, **options: str) -> Session:
        return WatchedSession(await super().connect(purpose, autocommit=autocommit, **options), self.watch)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        async with super().session() as session:
            yield WatchedSession(session, self.watch)


class OpenRelay(Relay):
    """A relay whose connections stay open, so that no run pays for connecting."""

    def __init__(self, database: Database, consumer: Consumer, **options: Any) -> None:
        super().__init__(database, consumer, Wake(), **options)

    async def __aenter__(self) -> Self:
        self.main, self.notes = await self._connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.main.connection.close()
        await self.notes.connection.close()

    async def settle(self, events: int) -> float:
        """Take turns until so many events are settled; return the seconds. Raises: `RuntimeError` if one is not."""
        wanted = self._ended() + events
        started = time.perf_counter()
        while self._ended() < wanted:
            moved = await self.turn(self.main, self.notes)
            if not moved and not await self.turn(self.main, self.notes):
                raise RuntimeError(f"{wanted - self._ended()} events are not due")
        return time.perf_counter() - started

    def _ended(self) -> int:
        return sum(count for (_, outcome), count in self.tally.settled.items() if outcome in {"done", "skipped"})


async def wal_position(session: Session) -> int:
    """Return how many bytes of WAL were written so far, by anybody on the server."""
    row = await (
        await session.connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS at")
    ).fetchone()
    assert row
    return int(row["at"])


async def counted(database: WatchedDatabase, session: Session, side: Side, events: int = 1) -> dict[str, Any]:
    """Run a side once more; return what an event took, its publishing included: statements, WAL, each one's share."""
    database.watch.clear()
    before = await wal_position(session)
    await side()
    return {
        "events": events,
        "wal_bytes_per_event": (await wal_position(session) - before) / events,
        "statements_per_event": database.watch.counts.total() / events,
        "by_statement": database.watch.shares(),
    }
