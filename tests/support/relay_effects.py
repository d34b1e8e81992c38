"""A consumer of the tests: it writes each event into a table, in the relay's transaction, and errs where told to.

What an event does is in its keys: `{"do": "raise"}`, `exit` (the process dies), `cut` (its connection does),
`later`, `chunks` (two, by a cursor), `strange`. Without it the event is written down and done.
"""

import os
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from datetime import timedelta
from time import monotonic
from typing import Any

import psycopg

from clarion.model.event import Continued, Done, Event, Handled, Later, Outcome
from clarion.store.database import Session

TYPE = "test.happened"
SECONDS = 60.0

PREPARE = """
CREATE TABLE effect (event bigint NOT NULL, part int NOT NULL DEFAULT 0, relay int NOT NULL, with_others int NOT NULL);
CREATE TABLE test_clock (ahead interval NOT NULL);
INSERT INTO test_clock VALUES ('0');
CREATE FUNCTION tell_test() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN PERFORM pg_notify('test_changed', ''); RETURN NULL; END$$;
CREATE TRIGGER tell_test AFTER INSERT ON effect FOR EACH STATEMENT EXECUTE FUNCTION tell_test();
CREATE TRIGGER tell_test AFTER UPDATE ON clarion.outbox_event FOR EACH STATEMENT EXECUTE FUNCTION tell_test();
CREATE TRIGGER tell_test AFTER INSERT ON clarion.relay_note FOR EACH STATEMENT EXECUTE FUNCTION tell_test();
CREATE OR REPLACE FUNCTION clarion.now() RETURNS timestamptz LANGUAGE sql STABLE AS
    'SELECT pg_catalog.now() + (SELECT ahead FROM test_clock)';
"""


class Effects:
    """Writes each event into `effect`, which would show it twice."""

    name = "notifier"

    def __init__(
        self, types: Collection[str] = (TYPE,), meet: Callable[[Session, Event], Awaitable[None]] | None = None
    ) -> None:
        self._types = types
        self._meet = meet
        self.batches: list[list[int]] = []

    def types(self) -> Collection[str]:
        return self._types

    async def handle(self, session: Session, events: Sequence[Event]) -> Handled:
        self.batches.append([event.id for event in events])
        await session.connection.execute(
            "INSERT INTO effect (event, part, relay, with_others) SELECT e, p, %s, %s FROM unnest(%s, %s) AS u(e, p)",
            [
                os.getpid(),
                len(events) - 1,
                [event.id for event in events],
                [0 if event.cursor is None else int(event.cursor) for event in events],
            ],
        )
        outcomes: dict[int, Outcome] = {}
        for event in events:
            if self._meet:
                await self._meet(session, event)
            outcomes[event.id] = await self._do(session, event)
        return Handled(outcomes, {"watching": len(outcomes)})

    async def _do(self, session: Session, event: Event) -> Outcome:
        match event.keys.get("do"):
            case "raise":
                raise ValueError("this one never works")
            case "exit":
                os._exit(9)
            case "cut":
                await session.connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
            case "later":
                await session.connection.execute("DELETE FROM effect WHERE event = %s", [event.id])
                return Later(3600, "not now")
            case "chunks" if event.cursor is None:
                return Continued(1)
            case _:
                pass
        return Done()


class Watch:
    """The test's own look at the database: publishes, reads, and waits for changes, told by NOTIFY."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True)
        self.connection.execute("LISTEN test_changed")

    def close(self) -> None:
        self.connection.close()

    def prepare(self) -> None:
        """Makes the table of effects, a clock that can be turned, and triggers that tell of changes."""
        self.connection.execute(PREPARE)

    def publish(self, count: int = 1, *, kind: str = TYPE, do: str | None = None, due_in: float = 0.0) -> list[int]:
        """Publishes events in one transaction; returns their ids."""
        rows = self.connection.execute(
            "INSERT INTO clarion.outbox_event (type, keys, available_at)"
            " SELECT %s, coalesce(jsonb_build_object('do', %s::text), '{}'), clarion.now() + make_interval(secs => %s)"
            " FROM generate_series(1, %s) RETURNING id",
            [kind, do, due_in, count],
        ).fetchall()
        return [row[0] for row in rows]

    def wake_relays(self) -> None:
        """Signals as a publisher does after its commit."""
        self.connection.execute("SELECT pg_notify('clarion_wake', '')")

    def turn_clock(self, seconds: float) -> None:
        """Moves clarion.now() ahead."""
        self.connection.execute("UPDATE test_clock SET ahead = ahead + %s", [timedelta(seconds=seconds)])

    def rows(self, query: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.connection.execute(query.encode(), params).fetchall()

    def value(self, query: str, params: Sequence[Any] = ()) -> Any:
        return self.rows(query, params)[0][0]

    def events(self, ids: Sequence[int], columns: str) -> list[tuple[Any, ...]]:
        """Columns of some events, in order of id."""
        return self.rows(f"SELECT {columns} FROM clarion.outbox_event WHERE id = ANY(%s) ORDER BY id", [list(ids)])

    def effects(self) -> dict[int, int]:
        """How often each event was applied."""
        return dict(self.rows("SELECT event, count(*) FROM effect GROUP BY event"))

    def looks(self, seconds: float = SECONDS) -> Iterator[None]:
        """Yields at once and after each change, for so long."""
        deadline = monotonic() + seconds
        while monotonic() < deadline:
            yield
            for _ in self.connection.notifies(timeout=0.1, stop_after=1):
                pass

    def until(self, query: str, wanted: Any = True, params: Sequence[Any] = (), *, seconds: float = SECONDS) -> None:
        """Waits until a query gives the value wanted; looks again at each change, and fails after a while."""
        value: Any = None
        for _ in self.looks(seconds):
            value = self.value(query, params)
            if value == wanted:
                return
        raise AssertionError(f"{query} stays {value!r}, not {wanted!r}")

    def until_settled(self, count: int, *, seconds: float = SECONDS) -> None:
        """Waits until so many events are settled."""
        self.until("SELECT count(*) FROM clarion.outbox_event WHERE state <> 'waiting'", count, seconds=seconds)
