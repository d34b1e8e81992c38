"""Rows of the fault corpus that concern the outbox and have no other test (FAULTS, part C)."""

from collections.abc import Iterator

import pytest

from clarion.outbox.publish import NewEvent, publish
from clarion.store.database import Database
from clarion.work.relay import Relay
from clarion.work.wake import Wake
from support.relay_effects import TYPE, Effects, Watch


@pytest.fixture
def watch(database_url: str) -> Iterator[Watch]:
    watch = Watch(database_url)
    watch.prepare()
    yield watch
    watch.close()


async def test_F59_F65_a_relay_slower_than_any_timer_shares_its_events_with_nobody(
    database: Database, watch: Watch
) -> None:
    (event,) = watch.publish()
    second = Relay(database, Effects(), Wake())

    async def meanwhile(_session: object, _event: object) -> None:
        watch.turn_clock(3600)
        assert await second.drain() == 0

    await Relay(database, Effects(meet=meanwhile), Wake()).drain()
    assert watch.effects() == {event: 1}


async def test_F61_a_note_whose_events_are_gone_is_swept(database: Database, watch: Watch) -> None:
    (event,) = watch.publish()
    watch.connection.execute(
        "INSERT INTO clarion.relay_note (events, relay) VALUES (ARRAY[999999, %s]::bigint[], 'dead')", [event]
    )
    await Relay(database, Effects(), Wake()).drain()
    assert watch.effects() == {event: 1}
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0


async def test_F62_a_relay_that_comes_back_under_its_old_name_takes_up_what_it_held(
    database: Database, watch: Watch
) -> None:
    events = watch.publish(3)
    relay = Relay(database, Effects(), Wake())
    watch.connection.execute("INSERT INTO clarion.relay_note (events, relay) VALUES (%s, %s)", [events, relay.name])
    await relay.drain()
    assert watch.effects() == dict.fromkeys(events, 1)
    assert set(watch.events(events, "state, attempts")) == {("done", 0)}


async def test_F73_keys_near_the_limit_are_committed_and_delivered(database: Database, watch: Watch) -> None:
    keys = {"note": "x" * 8000}
    async with database.session() as session:
        event = await session.run(publish(NewEvent(type=TYPE, keys=keys)))
    watch.wake_relays()
    await Relay(database, Effects(), Wake()).drain()
    assert watch.effects() == {event: 1}


async def test_F74_no_position_is_kept_so_none_can_be_lost(database: Database, watch: Watch) -> None:
    early = watch.publish(2)
    await Relay(database, Effects(), Wake()).drain()
    watch.connection.execute("TRUNCATE clarion.relay_note RESTART IDENTITY")
    late = watch.publish(2)
    await Relay(database, Effects(), Wake()).drain()
    assert watch.effects() == dict.fromkeys(early + late, 1)


async def test_F76_two_relays_that_meet_one_due_event_fire_it_once(database: Database, watch: Watch) -> None:
    (event,) = watch.publish(due_in=60)
    watch.turn_clock(61)
    second = Relay(database, Effects(), Wake())

    async def meanwhile(_session: object, _event: object) -> None:
        await second.drain()

    await Relay(database, Effects(meet=meanwhile), Wake()).drain()
    await second.drain()
    assert watch.effects() == {event: 1}
