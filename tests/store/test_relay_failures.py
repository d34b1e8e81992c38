"""O6: a failing event is undone alone, tried again with growing delay, set aside; its neighbours go through."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from random import Random

import psycopg
import pytest
from psycopg import errors

from clarion.model.event import MAX_ATTEMPTS, Done, Event, Handled
from clarion.store.database import Database, Session
from clarion.work.delays import RETRY_SECONDS
from clarion.work.relay import Relay
from clarion.work.wake import Wake
from support.relay_effects import TYPE, Effects, Watch

WAITS = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


@pytest.fixture
def watch(database_url: str) -> Iterator[Watch]:
    watch = Watch(database_url)
    watch.prepare()
    yield watch
    watch.close()


def relay_of(database: Database, consumer: Effects, batch: int = 100) -> Relay:
    return Relay(database, consumer, Wake(), batch=batch, random=Random(7))  # noqa: S311 - jitter


async def test_O6_F52_one_poison_among_ten_costs_the_others_nothing(database: Database, watch: Watch) -> None:
    before, poison, after = watch.publish(5), watch.publish(1, do="raise"), watch.publish(5)
    consumer = Effects()
    relay = relay_of(database, consumer)
    await relay.drain()
    assert watch.effects() == dict.fromkeys(before + after, 1)
    assert set(watch.events(before + after, "state, attempts, alone")) == {("done", 0, False)}
    assert watch.events(poison, "state, attempts, alone, last_error") == [
        ("waiting", 1, True, "ValueError: this one never works")
    ]
    tries = len([batch for batch in consumer.batches if poison[0] in batch])
    assert tries <= 8, f"the poison was met {tries} times"
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0


async def test_O6_F53_a_head_full_of_poison_delays_nothing_behind(database: Database, watch: Watch) -> None:
    poison, good = watch.publish(5, do="raise"), watch.publish(1)
    relay = relay_of(database, Effects(), 5)
    await relay.drain()
    assert watch.effects() == {good[0]: 1}
    assert watch.events(poison, "attempts") == [(1,)] * 5


async def test_O6_F58_the_fifth_of_ten_is_bad_and_the_first_four_are_applied_once(
    database: Database, watch: Watch
) -> None:
    first, _, rest = watch.publish(4), watch.publish(1, do="raise"), watch.publish(5)
    relay = relay_of(database, Effects())
    for _ in range(MAX_ATTEMPTS):
        await relay.drain()
        watch.turn_clock(1000)
    assert watch.effects() == dict.fromkeys(first + rest, 1)


async def test_O6_F56_delays_grow_and_after_five_attempts_it_is_set_aside(database: Database, watch: Watch) -> None:
    ids = watch.publish(1, do="raise")
    consumer = Effects()
    relay = relay_of(database, consumer)
    await relay.drain()
    for attempt, delay in enumerate(RETRY_SECONDS, start=1):
        assert watch.events(ids, "state, attempts") == [("waiting", attempt)]
        wait = float(watch.value("SELECT extract(epoch FROM available_at - clarion.now()) FROM clarion.outbox_event"))
        assert 0.8 * delay - 1 <= wait <= 1.2 * delay
        assert await relay.drain() == 0, "one try an interval"
        watch.turn_clock(1.2 * delay)
        await relay.drain()
    assert len(consumer.batches) == MAX_ATTEMPTS
    assert watch.events(ids, "state, attempts, last_error, settled_at IS NOT NULL") == [
        ("set_aside", 5, "ValueError: this one never works", True)
    ]
    watch.turn_clock(10_000)
    assert await relay.drain() == 0
    assert relay.tally.failed == {TYPE: 5}
    assert relay.tally.settled == {(TYPE, "set_aside"): 1}


async def test_O6_F55_what_is_set_aside_is_retried_by_id_by_error_or_all_and_dropped(
    database: Database, watch: Watch
) -> None:
    ids = watch.publish(4, do="raise")
    watch.rows(
        "UPDATE clarion.outbox_event SET state = 'set_aside', attempts = 5, settled_at = clarion.now(),"
        " last_error = CASE WHEN id = %s THEN 'mail is down' ELSE 'other' END, keys = '{}' RETURNING id",
        [ids[1]],
    )
    relay = relay_of(database, Effects())
    assert await relay.drain() == 0
    async with database.session() as session:
        assert await session.fetch("retry_events", events=None, error="is down") == [{"id": ids[1]}]
        assert await session.fetch("retry_events", events=[ids[0]], error=None) == [{"id": ids[0]}]
        assert await session.fetch("drop_events", events=[ids[3]], error=None) == [{"id": ids[3]}]
    assert await relay.drain() == 2
    async with database.session() as session:
        assert await session.fetch("retry_events", events=None, error=None) == [{"id": ids[2]}]
    assert await relay.drain() == 1
    assert watch.effects() == dict.fromkeys(ids[:3], 1)
    assert watch.events(ids, "state, attempts") == [("done", 0), ("done", 0), ("done", 0), ("dropped", 5)]


@pytest.mark.parametrize("error", [errors.DeadlockDetected("boom"), errors.SerializationFailure("boom")])
async def test_O6_a_deadlock_or_a_serialisation_failure_is_no_attempt(
    database: Database, watch: Watch, error: Exception
) -> None:
    left = [error] * 3

    async def meet(_: Session, __: Event) -> None:
        if left:
            raise left.pop()

    ids = watch.publish(2)
    relay = relay_of(database, Effects(meet=meet))
    while watch.effects() != dict.fromkeys(ids, 1):
        await relay.drain()
        watch.turn_clock(1)
    assert watch.events(ids, "state, attempts, alone") == [("done", 0, False)] * 2


async def test_O6_a_real_deadlock_is_no_attempt(database: Database, watch: Watch) -> None:
    watch.connection.execute("CREATE TABLE held (id int); INSERT INTO held VALUES (1), (2)")

    async def meet(session: Session, _: Event) -> None:
        await session.connection.execute("SET LOCAL deadlock_timeout = '10ms'")
        await session.connection.execute("SELECT FROM held WHERE id = 1 FOR UPDATE")
        if not other.done():
            locked.set()
            await asyncio.to_thread(watch.until, WAITS)
            await session.connection.execute("SELECT FROM held WHERE id = 2 FOR UPDATE")

    locked = asyncio.Event()

    async def hold() -> None:
        async with database.session() as session:
            await session.connection.execute("SELECT FROM held WHERE id = 2 FOR UPDATE")
            await locked.wait()
            await session.connection.execute("SET LOCAL deadlock_timeout = '60s'")
            await session.connection.execute("SELECT FROM held WHERE id = 1 FOR UPDATE")

    other = asyncio.create_task(hold())
    ids = watch.publish(1)
    relay = relay_of(database, Effects(meet=meet))
    await relay.drain()
    await other
    watch.turn_clock(1)
    await relay.drain()
    assert watch.effects() == {ids[0]: 1}
    assert watch.events(ids, "state, attempts") == [("done", 0)]


async def test_O6_what_the_commit_refuses_is_charged_with_its_own_error(database: Database, watch: Watch) -> None:
    watch.connection.execute(
        "ALTER TABLE effect ADD UNIQUE (event) DEFERRABLE INITIALLY DEFERRED; INSERT INTO effect VALUES (2, 0, 0, 0)"
    )
    ids = watch.publish(3)
    relay = relay_of(database, Effects())
    await relay.drain()
    assert watch.events(ids, "state, attempts") == [("done", 0), ("waiting", 1), ("done", 0)]
    assert "UniqueViolation" in watch.value("SELECT last_error FROM clarion.outbox_event WHERE id = %s", [ids[1]])
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0


async def test_O6_an_outcome_that_cannot_be_written_is_the_events_failure(database: Database, watch: Watch) -> None:
    class Odd(Effects):
        async def handle(self, _: Session, events: Sequence[Event]) -> Handled:
            return Handled({event.id: Done("a \0 in it" if event.id == bad else "") for event in events})

    ids = watch.publish(3)
    bad = ids[1]
    await relay_of(database, Odd()).drain()
    assert watch.events(ids, "state, attempts") == [("done", 0), ("waiting", 1), ("done", 0)]


@pytest.mark.parametrize("outcomes", [{}, {987654: Done()}])
async def test_O6_a_consumer_that_names_nothing_or_strangers_is_charged_not_followed_in_circles(
    database: Database, watch: Watch, outcomes: dict[int, Done]
) -> None:
    class Mute(Effects):
        async def handle(self, _: Session, __: Sequence[Event]) -> Handled:
            return Handled(outcomes)

    ids = watch.publish(2)
    await relay_of(database, Mute()).drain()
    assert watch.events(ids, "state, attempts") == [("waiting", 1)] * 2


async def test_O6_an_error_that_no_column_takes_is_charged_all_the_same(database: Database, watch: Watch) -> None:
    class Evil(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    bad = iter([ValueError("\0 and \ud800"), Evil(), asyncio.CancelledError()])

    async def meet(_: Session, __: Event) -> None:
        raise next(bad)

    ids = watch.publish(3)
    await relay_of(database, Effects(meet=meet), 1).drain()
    assert watch.events(ids, "attempts, last_error") == [
        (1, "ValueError:  and ?"),
        (1, "Evil"),
        (1, "CancelledError: "),
    ]


async def test_O6_a_consumer_that_hangs_fails(database: Database, watch: Watch) -> None:
    async def meet(_: Session, event: Event) -> None:
        if event.keys.get("do") == "hang":
            await asyncio.Event().wait()

    ids = watch.publish(1, do="hang") + watch.publish(1)
    relay = Relay(database, Effects(meet=meet), Wake(), handle_seconds=0.05)
    await relay.drain()
    assert watch.events(ids, "state, attempts") == [("waiting", 1), ("done", 0)]


async def test_O6_a_failing_event_alone_does_not_hold_up_batches_nor_they_it(database: Database, watch: Watch) -> None:
    watch.publish(30, do="raise")
    watch.rows("UPDATE clarion.outbox_event SET alone = true RETURNING id")
    good = watch.publish(30)
    consumer = Effects()
    relay = relay_of(database, consumer, 10)
    main, notes = await relay._connect()
    try:
        for _ in range(3):
            await relay.turn(main, notes)
    finally:
        await main.connection.close()
        await notes.connection.close()
    assert [len(batch) for batch in consumer.batches] == [10, 1, 10, 1, 10, 1]
    assert watch.effects() == dict.fromkeys(good, 1)


async def test_O6_success_alone_does_not_blow_up_a_batch_that_is_being_halved(database: Database, watch: Watch) -> None:
    alone = watch.publish(20)
    watch.rows("UPDATE clarion.outbox_event SET alone = true RETURNING id")
    watch.publish(1, do="raise")
    good = watch.publish(15)
    consumer = Effects()
    await relay_of(database, consumer, 16).drain()
    assert watch.effects() == dict.fromkeys(alone + good, 1)
    assert [len(batch) for batch in consumer.batches[:9:2]] == [16, 8, 4, 2, 1]


async def test_I5_a_mark_may_refer_to_an_event_that_is_being_handled(database: Database, watch: Watch) -> None:
    async def meet(_: Session, event: Event) -> None:
        with psycopg.connect(database.url) as mark:
            mark.execute("SET lock_timeout = '1s'")
            with suppress(errors.LockNotAvailable):
                mark.execute("INSERT INTO clarion.read_ahead (event, person) VALUES (%s, 1)", [event.id])
                marked.append(event.id)

    marked: list[int] = []
    ids = watch.publish(1)
    await relay_of(database, Effects(meet=meet)).drain()
    assert marked == ids
