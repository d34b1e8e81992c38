"""Relays as real processes, killed: everything is applied once, and only who killed is charged."""

import signal
from collections.abc import Iterator
from random import Random

import pytest

from clarion.model.event import MAX_ATTEMPTS
from support.relay_effects import Watch
from support.relay_processes import Relays, relays

MANY = 20_000
KILLS = 8
ONCE = "SELECT count(*) FROM (SELECT event FROM effect GROUP BY event, part HAVING count(*) = 1) once"


@pytest.fixture
def watch(database_url: str) -> Iterator[Watch]:
    watch = Watch(database_url)
    watch.prepare()
    yield watch
    watch.close()


@pytest.fixture
def crowd(database_url: str) -> Iterator[Relays]:
    with relays(database_url) as crowd:
        yield crowd


def assert_each_once(watch: Watch, ids: list[int]) -> None:
    """Each of these events was applied once, and nothing else was."""
    effects = watch.effects()
    assert sorted(effects) == ids
    assert set(effects.values()) == {1}


def test_O4_relays_killed_at_random_apply_20000_events_once_each(watch: Watch, crowd: Relays) -> None:
    random = Random(20_000)  # noqa: S311 - who is killed, and when
    ids = watch.publish(MANY)
    for _ in range(4):
        crowd.start(batch=50)
    for kill in range(1, KILLS + 1):
        watch.until(
            "SELECT count(*) >= %s FROM effect", params=[MANY * kill // (KILLS + 2) + random.randrange(MANY // 50)]
        )
        crowd.processes.pop(random.randrange(2)).kill()  # one of the oldest: it is at work
        crowd.start(batch=50)
    watch.until_settled(MANY)
    assert_each_once(watch, ids)
    assert watch.rows("SELECT DISTINCT state FROM clarion.outbox_event") == [("done",)]
    deaths_alone = watch.value("SELECT coalesce(sum(attempts), 0) FROM clarion.outbox_event")
    set_alone = watch.value("SELECT count(*) FROM effect WHERE with_others = 0")
    print(f"{KILLS} relays killed: {set_alone} events handled alone, {deaths_alone} of them met a kill")  # noqa: T201
    assert deaths_alone <= KILLS, "an attempt is a death alone, and nobody died more often"
    assert set_alone <= KILLS * 50
    assert watch.value("SELECT max(attempts) FROM clarion.outbox_event") <= 1


def test_O6_a_killer_among_good_events_is_set_aside_and_no_other_is_charged(watch: Watch, crowd: Relays) -> None:
    good = watch.publish(100)
    killer = watch.publish(1, do="exit")
    good += watch.publish(100)
    for _ in range(2):
        crowd.start(batch=50)
    deaths = 0
    for _ in watch.looks():
        deaths += crowd.replace_dead(batch=50)
        watch.turn_clock(1000)  # past any delay between attempts
        if watch.events(killer, "state") != [("waiting",)]:
            break
    watch.until_settled(len(good) + 1)
    assert_each_once(watch, good)
    assert set(watch.events(good, "state, attempts")) == {("done", 0)}
    assert watch.events(killer, "state, attempts, alone") == [("set_aside", MAX_ATTEMPTS, True)]
    assert "died while it handled this event alone" in watch.events(killer, "last_error")[0][0]
    assert deaths <= MAX_ATTEMPTS + 2, "once in a batch, or once for each relay, then five times alone"
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0


def test_O6_an_event_that_kills_its_connection_is_like_one_that_kills(watch: Watch, crowd: Relays) -> None:
    good = watch.publish(10)
    bad = watch.publish(1, do="cut")
    good += watch.publish(10)
    crowd.start(batch=50)
    for _ in watch.looks():
        watch.turn_clock(1000)
        if watch.events(bad, "state") != [("waiting",)]:
            break
    watch.until_settled(21)
    assert not crowd.processes[0].gone
    assert_each_once(watch, good)
    assert set(watch.events(good, "state, attempts")) == {("done", 0)}
    assert watch.events(bad, "state, attempts") == [("set_aside", MAX_ATTEMPTS)]


@pytest.mark.parametrize("point", ["noted", "before commit"])
def test_O3_a_relay_that_stands_still_holds_its_events_and_killed_lets_them_go(
    watch: Watch, crowd: Relays, point: str
) -> None:
    ids = watch.publish(10)
    held = crowd.start(batch=5, stop_at=point)
    held.hear_stopped_at(point)
    assert watch.effects() == {}
    assert watch.value("SELECT events FROM clarion.relay_note") == ids[:5]
    crowd.start(batch=5)
    watch.until_settled(5)
    assert sorted(watch.effects()) == ids[5:]
    assert watch.rows("SELECT relay FROM clarion.relay_note WHERE events[1] = %s", [ids[0]])
    held.kill()
    watch.until_settled(10)
    assert_each_once(watch, ids)
    assert set(watch.events(ids[:5], "state, attempts, alone")) == {("done", 0, False)}
    assert watch.value("SELECT count(*) FROM effect WHERE with_others = 0") == 5, "what the dead one held, one by one"
    watch.until("SELECT count(*) FROM clarion.relay_note", 0)


def test_O4_a_relay_killed_right_after_its_commit_has_lost_nothing(watch: Watch, crowd: Relays) -> None:
    ids = watch.publish(5)
    held = crowd.start(stop_at="after commit")
    held.hear_stopped_at("after commit")
    assert set(watch.events(ids, "state")) == {("done",)}
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0
    held.kill()
    assert_each_once(watch, ids)


def test_O6_a_relay_killed_over_one_event_alone_is_its_one_attempt(watch: Watch, crowd: Relays) -> None:
    ids = watch.publish(1)
    held = crowd.start(stop_at="noted")
    held.hear_stopped_at("noted")
    held.kill()
    crowd.start()
    watch.until("SELECT attempts FROM clarion.outbox_event", 1)
    watch.turn_clock(10)
    watch.until_settled(1)
    assert_each_once(watch, ids)
    assert watch.events(ids, "state, attempts") == [("done", 1)]


def test_a_relay_that_was_only_asleep_finishes_its_batch(watch: Watch, crowd: Relays) -> None:
    ids = watch.publish(5)
    held = crowd.start(stop_at="noted")
    held.hear_stopped_at("noted")
    held.send(signal.SIGCONT)
    watch.until_settled(5)
    assert_each_once(watch, ids)
    assert set(watch.events(ids, "attempts, alone")) == {(0, False)}
    held.drain()


def test_SIGTERM_drains_the_batch_in_hand_and_leaves_the_rest(watch: Watch, crowd: Relays) -> None:
    ids = watch.publish(200)
    held = crowd.start(batch=50, stop_at="noted")
    held.hear_stopped_at("noted")
    held.send(signal.SIGTERM)
    held.send(signal.SIGCONT)
    held.hear("drained")
    held.process.communicate(timeout=60)
    assert held.process.returncode == 0
    done = [row[0] for row in watch.rows("SELECT id FROM clarion.outbox_event WHERE state = 'done' ORDER BY id")]
    assert done[:50] == ids[:50]
    assert len(done) < 200
    assert_each_once(watch, done)
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0
    assert set(watch.events(ids, "attempts, alone")) == {(0, False)}
