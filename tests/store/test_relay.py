"""The relay in one process: what is committed is applied, exactly once, when it is due, in the same transaction."""

import asyncio
from collections.abc import Iterator, Sequence

import psycopg
import pytest

from clarion.model.event import Done, Event, Handled, Skipped
from clarion.store.database import Database, Session
from clarion.work.relay import Relay
from clarion.work.wake import Wake
from support.relay_effects import TYPE, Effects, Watch


@pytest.fixture
def watch(database_url: str) -> Iterator[Watch]:
    watch = Watch(database_url)
    watch.prepare()
    yield watch
    watch.close()


def relay_of(database: Database, consumer: Effects, batch: int = 100) -> Relay:
    return Relay(database, consumer, Wake(), batch=batch)


async def test_O4_each_event_is_applied_once_and_is_done_with_its_effect(database: Database, watch: Watch) -> None:
    ids = watch.publish(250)
    relay = relay_of(database, Effects())
    assert await relay.drain() == 250
    assert await relay.drain() == 0
    assert watch.effects() == dict.fromkeys(ids, 1)
    assert set(watch.events(ids, "state, attempts, alone, settled_at IS NOT NULL")) == {("done", 0, False, True)}
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0
    assert relay.tally.settled == {(TYPE, "done"): 250}
    assert relay.tally.notified == {"watching": 250}


async def test_O3_F49_a_lower_id_that_commits_late_is_delivered(database: Database, watch: Watch) -> None:
    relay = relay_of(database, Effects())
    with psycopg.connect(database.url) as late:
        late.execute("INSERT INTO clarion.outbox_event (type) VALUES (%s)", [TYPE])
        watch.publish(5)
        assert await relay.drain() == 5
        late.commit()
    assert await relay.drain() == 1
    assert len(watch.effects()) == 6


async def test_O3_a_rolled_back_id_blocks_nothing(database: Database, watch: Watch) -> None:
    with psycopg.connect(database.url) as gone:
        gone.execute("INSERT INTO clarion.outbox_event (type) VALUES (%s)", [TYPE])
        gone.rollback()
    watch.publish(2)
    assert await relay_of(database, Effects()).drain() == 2


async def test_O3_two_relays_take_different_events(database: Database, watch: Watch) -> None:
    ids = watch.publish(20)
    first, second = relay_of(database, Effects(), 10), Effects()

    async def meanwhile(_: Session, event: Event) -> None:
        if event.id == ids[0]:
            assert await relay_of(database, second, 10).drain() == 10

    first._consumer = Effects(meet=meanwhile)
    assert await first.drain() == 10
    assert second.batches == [ids[10:]]
    assert watch.effects() == dict.fromkeys(ids, 1)


async def test_O7_unknown_types_at_the_head_are_left_for_who_knows_them(database: Database, watch: Watch) -> None:
    strange = watch.publish(150, kind="test.new_in_the_next_release")
    known = watch.publish(3)
    old = relay_of(database, Effects())
    assert await old.drain() == 3
    assert watch.effects() == dict.fromkeys(known, 1)
    assert set(watch.events(strange, "state, attempts")) == {("waiting", 0)}
    new = relay_of(database, Effects(types=[TYPE, "test.new_in_the_next_release"]))
    assert await new.drain() == 150


async def test_O10_an_event_in_the_future_waits_until_it_is_due(database: Database, watch: Watch) -> None:
    later, now = watch.publish(1, due_in=3600), watch.publish(1)
    relay = relay_of(database, Effects())
    await relay.drain()
    assert watch.effects() == dict.fromkeys(now, 1)
    watch.turn_clock(3599)
    assert await relay.drain() == 0
    watch.turn_clock(2)
    assert await relay.drain() == 1
    assert watch.effects() == dict.fromkeys(now + later, 1)


async def test_O10_what_becomes_due_before_the_last_claim_is_met(database: Database, watch: Watch) -> None:
    relay = relay_of(database, Effects(), 2)
    watch.publish(4)
    main, notes = await relay._connect()
    try:
        assert await relay.turn(main, notes) == 2
        early = watch.publish(1, due_in=-3600)
        for _ in range(30):
            watch.publish(2)
            await relay.turn(main, notes)
        assert watch.effects()[early[0]] == 1
    finally:
        await main.connection.close()
        await notes.connection.close()


async def test_O4_a_chunk_commits_its_cursor_and_leaves_the_event_claimable(database: Database, watch: Watch) -> None:
    ids = watch.publish(1, do="chunks")
    others = watch.publish(1)
    relay = relay_of(database, Effects(), 1)
    main, notes = await relay._connect()
    try:
        await relay.turn(main, notes)
        assert watch.events(ids, "state, cursor, attempts, alone") == [("waiting", 1, 0, False)]
        assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0
        await relay.turn(main, notes)
        assert watch.events(others, "state") == [("done",)], "who goes on takes its turn behind what was due"
    finally:
        await main.connection.close()
        await notes.connection.close()
    assert await relay.drain() == 1
    assert watch.rows("SELECT event, part FROM effect WHERE event = ANY(%s) ORDER BY part", [ids]) == [
        (ids[0], 0),
        (ids[0], 1),
    ]
    assert watch.events(ids, "state") == [("done",)]


async def test_O6_what_is_put_off_is_no_attempt_and_does_not_spin(database: Database, watch: Watch) -> None:
    ids = watch.publish(1, do="later")
    consumer = Effects()
    relay = relay_of(database, consumer)
    async with asyncio.timeout(20):
        assert await relay.drain() == 1
    assert len(consumer.batches) == 1
    assert watch.events(ids, "state, attempts, alone, outcome") == [("waiting", 0, False, "not now")]
    watch.turn_clock(3601)
    assert await relay.drain() == 1


async def test_O2_what_is_skipped_says_why(database: Database, watch: Watch) -> None:
    class Skips(Effects):
        async def handle(self, _: Session, events: Sequence[Event]) -> Handled:
            return Handled({event.id: Skipped("it is gone") for event in events})

    ids = watch.publish(1)
    await relay_of(database, Skips()).drain()
    assert watch.events(ids, "state, outcome") == [("skipped", "it is gone")]


async def test_O13_a_row_of_another_consumer_is_not_touched(database: Database, watch: Watch) -> None:
    ids = watch.publish(2)
    watch.rows("UPDATE clarion.outbox_event SET consumer = 'webhooks' WHERE id = %s RETURNING id", [ids[0]])
    assert await relay_of(database, Effects()).drain() == 1
    assert watch.events(ids, "state") == [("waiting",), ("done",)]


async def test_what_a_consumer_does_not_name_is_handed_to_it_again(database: Database, watch: Watch) -> None:
    class OneByOne(Effects):
        async def handle(self, _: Session, events: Sequence[Event]) -> Handled:
            self.batches.append([event.id for event in events])
            return Handled({events[0].id: Done()})

    ids = watch.publish(3)
    consumer = OneByOne()
    assert await relay_of(database, consumer).drain() == 3
    assert consumer.batches == [ids, ids[1:], ids[2:]]
