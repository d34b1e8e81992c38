"""How a relay ends, and how it goes on: drained, cancelled, cut off, in two loops at once."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from clarion.model.event import Event
from clarion.store.database import Database, Session
from clarion.work import relay as relay_module
from clarion.work.crew import Crew
from clarion.work.relay import Relay
from clarion.work.wake import Signals, Wake
from support.relay_effects import Effects, Watch

OUTAGE_TRIES = 24
"""As many as 40 s of outage take: 0.05 + 0.1 + 0.2 + 0.5 + 1 s, and then one every 2 s."""


@pytest.fixture
def watch(database_url: str) -> Iterator[Watch]:
    watch = Watch(database_url)
    watch.prepare()
    yield watch
    watch.close()


class Held:
    """Holds an event in the consumer until let go."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.go_on = asyncio.Event()

    async def __call__(self, session: Session, _: Event) -> None:
        await session.connection.execute("SELECT 1")
        self.reached.set()
        await self.go_on.wait()


def crew_of(database: Database, consumer: Effects, relays: int = 1, **signals: Any) -> Crew:
    return Crew(database, Signals(database, **signals), consumer, relays=relays, batch=50, poll_seconds=60)


@asynccontextmanager
async def cancelled(relay: Relay) -> AsyncIterator[asyncio.Task[None]]:
    """A running relay that is cancelled at the end of the block."""
    task = asyncio.create_task(relay.run())
    yield task
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("count", [1, 3])
async def test_O6_a_relay_cancelled_inside_an_event_is_no_death(database: Database, watch: Watch, count: int) -> None:
    held = Held()
    ids = watch.publish(count)
    async with cancelled(Relay(database, Effects(meet=held), Wake())):
        await held.reached.wait()
        assert watch.value("SELECT events FROM clarion.relay_note") == ids
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0
    assert watch.effects() == {}
    assert await Relay(database, Effects(), Wake()).drain() == count
    assert watch.events(ids, "state, attempts, alone") == [("done", 0, False)] * count


@pytest.mark.parametrize("point", ["noted", "before commit"])
async def test_O6_a_relay_cancelled_at_a_barrier_leaves_no_note(database: Database, watch: Watch, point: str) -> None:
    ids = watch.publish(2)
    reached = asyncio.Event()

    def barrier(at: str) -> None:
        if at == point and (task := asyncio.current_task()):
            reached.set()
            task.cancel()

    task = asyncio.create_task(Relay(database, Effects(), Wake(), barrier=barrier).run())
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reached.is_set()
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0
    await Relay(database, Effects(), Wake()).drain()
    assert watch.effects() == dict.fromkeys(ids, 1)
    assert watch.events(ids, "state, attempts, alone") == [("done", 0, False)] * 2


async def test_O6_an_interrupt_from_the_keyboard_is_no_death(database: Database, watch: Watch) -> None:
    def barrier(at: str) -> None:
        if at == "before commit":
            raise KeyboardInterrupt

    watch.publish(1)
    relay = Relay(database, Effects(), Wake(), barrier=barrier)
    main, notes = await relay._connect()
    with pytest.raises(KeyboardInterrupt):
        await relay.turn(main, notes)
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0
    await asyncio.gather(main.connection.close(), notes.connection.close())


async def test_O6_a_consumer_that_leaves_the_process_is_a_death(database: Database, watch: Watch) -> None:
    async def leave(_: Session, __: Event) -> None:
        raise SystemExit

    ids = watch.publish(1)
    relay = Relay(database, Effects(meet=leave), Wake())
    main, notes = await relay._connect()
    with pytest.raises(SystemExit):
        await relay.turn(main, notes)
    await asyncio.gather(main.connection.close(), notes.connection.close())
    other = Relay(database, Effects(), Wake())
    await other.drain()
    assert watch.events(ids, "state, attempts") == [("waiting", 1)]
    assert other.tally.deaths == 1


async def test_stopping_a_crew_finishes_the_batch_in_hand_and_claims_no_other(database: Database, watch: Watch) -> None:
    held = Held()
    first = watch.publish(1)
    crew = crew_of(database, Effects(meet=held))
    crew.start()
    await held.reached.wait()
    later = watch.publish(1)
    stopping = asyncio.create_task(crew.stop())
    held.go_on.set()
    await stopping
    assert watch.effects() == dict.fromkeys(first, 1)
    assert watch.events(later, "state") == [("waiting",)]


async def test_a_batch_that_outlasts_the_drain_is_undone(database: Database, watch: Watch) -> None:
    held = Held()
    ids = watch.publish(1)
    crew = crew_of(database, Effects(meet=held))
    crew.start()
    await held.reached.wait()
    await crew.stop(seconds=0.01)
    assert watch.events(ids, "state, attempts") == [("waiting", 0)]
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0
    watch.until(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'clarion relay%%'"
        " AND datname = current_database()",
        0,
    )


async def test_O6_in_one_process_only_one_event_is_handled_alone_at_a_time(database: Database, watch: Watch) -> None:
    ids = watch.publish(12)
    watch.rows("UPDATE clarion.outbox_event SET alone = true RETURNING id")
    at_once: list[int] = []
    inside = 0

    async def meet(session: Session, _: Event) -> None:
        nonlocal inside
        inside += 1
        at_once.append(inside)
        await session.connection.execute("SELECT 1")
        inside -= 1

    crew = crew_of(database, Effects(meet=meet), relays=4)
    crew.start()
    await asyncio.to_thread(watch.until_settled, 12)
    await crew.stop()
    assert at_once == [1] * 12
    assert watch.effects() == dict.fromkeys(ids, 1)


async def test_F64_a_database_away_for_forty_seconds_and_the_relay_drains_the_queue_after_it(
    database_url: str, server_url: str, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []
    enough = asyncio.Event()

    def hurry(number: int) -> float:
        tries.append(number)
        if len(tries) >= OUTAGE_TRIES:
            enough.set()
        return 0.001

    monkeypatch.setattr(relay_module, "reconnect_delay", hurry)
    database = Database(database_url)
    name = Identifier(psycopg.conninfo.conninfo_to_dict(database_url)["dbname"])  # type: ignore[arg-type]
    relay = Relay(database, Effects(), Wake(), poll_seconds=0.05)
    task = asyncio.create_task(relay.run())
    first = watch.publish(3)
    await asyncio.to_thread(watch.until_settled, 3)
    second = watch.publish(3, due_in=0.1)
    with psycopg.connect(server_url, autocommit=True) as admin:
        admin.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'clarion relay%%'"
            " AND datname = %s",
            [name.as_string().strip('"')],
        )
        await enough.wait()
        assert not task.done()
        assert tries == sorted(tries), "each failure waits longer than the last"
        admin.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))
    await asyncio.to_thread(watch.until_settled, 6)
    relay.stop()
    await task
    assert watch.effects() == dict.fromkeys(first + second, 1)


async def test_an_error_outside_events_waits_longer_each_time(
    database: Database, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.connection.execute("ALTER TABLE clarion.outbox_event RENAME TO elsewhere")
    tries: list[int] = []
    enough = asyncio.Event()

    def hurry(number: int) -> float:
        tries.append(number)
        if len(tries) == 4:
            enough.set()
        return 0.001

    monkeypatch.setattr(relay_module, "reconnect_delay", hurry)
    relay = Relay(database, Effects(), Wake())
    task = asyncio.create_task(relay.run())
    await enough.wait()
    relay.stop()
    await task
    assert tries[:4] == [1, 2, 3, 4], "connecting alone is no success"


async def test_two_crews_in_two_loops_of_one_process_share_the_work(database_url: str, watch: Watch) -> None:
    ids = watch.publish(400)

    async def work() -> None:
        async with Database(database_url) as database:
            crew = crew_of(database, Effects(), relays=2)
            crew.start()
            await asyncio.to_thread(done.wait)
            await crew.stop()

    done = threading.Event()
    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        await asyncio.to_thread(watch.until_settled, 400)
    finally:
        done.set()
        await asyncio.gather(*(asyncio.to_thread(thread.join) for thread in threads))
    assert watch.effects() == dict.fromkeys(ids, 1)
