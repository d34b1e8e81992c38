"""Relays as real processes while what they stand on fails: the server, LISTEN, signals; and idle ones beside."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from time import monotonic

import psycopg
import pytest

from clarion.store.embedded import EmbeddedPostgres, ServerFailedError
from clarion.store.migrate import migrate
from support.processes import FAST, ServerProcesses
from support.relay_effects import SECONDS, Watch
from support.relay_processes import Relays, relays

MANY = 3000
NEVER = 600.0
"""Seconds between polls of a relay that only signals can wake within a test."""


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


def listening(watch: Watch) -> list[int]:
    """The backends on which relays listen."""
    return [
        row[0]
        for row in watch.rows(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'clarion listen'"
            " AND datname = current_database() AND state = 'idle'"
        )
    ]


def await_idle(watch: Watch, relays: int = 1) -> None:
    """Waits until so many relays have looked again for the last time and hear of what comes."""
    watch.until(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name IN ('clarion relay', 'clarion listen')"
        " AND datname = current_database() AND state = 'idle' AND clock_timestamp() - state_change > '350 ms'",
        2 * relays,
    )


def kill_postgres(folder: Path) -> None:
    """Kills the postmaster with -9; its watchdog starts it again."""
    with ServerProcesses(folder) as processes:
        os.kill(processes.postmaster, signal.SIGKILL)
        processes.wait_until_gone(watchdog=False)


def watch_again(folder: Path, url: str) -> Watch:
    """Looks at a server that is being started again, once it answers."""
    deadline = monotonic() + SECONDS
    while True:
        with suppress(ServerFailedError, psycopg.OperationalError), EmbeddedPostgres(folder):
            return Watch(url)
        assert monotonic() < deadline, "the server did not come back"


def test_F64_postgres_killed_in_the_middle_and_every_event_is_applied_once(tmp_path: Path) -> None:
    folder = tmp_path / "postgres"
    with EmbeddedPostgres(folder, settings=FAST) as server, ExitStack() as exits:
        url = server.start()
        migrate(url)
        watch = exits.enter_context(closing(Watch(url)))
        watch.prepare()
        ids = watch.publish(MANY)
        crowd = exits.enter_context(relays(url))
        for _ in range(2):
            crowd.start(batch=20)
        watch.until("SELECT count(*) >= 200 FROM effect")
        kill_postgres(folder)
        watch = exits.enter_context(closing(watch_again(folder, url)))
        assert watch.value("SELECT count(*) FROM effect") < MANY
        watch.until_settled(MANY)
        assert not any(relay.gone for relay in crowd.processes)
        assert watch.effects() == dict.fromkeys(ids, 1)
        assert watch.rows("SELECT DISTINCT state, attempts FROM clarion.outbox_event") == [("done", 0)]
        assert watch.value("SELECT count(*) FROM clarion.relay_note") == 0


def test_F71_a_listen_connection_that_was_cut_hears_the_next_signal(watch: Watch, crowd: Relays) -> None:
    crowd.start(poll=NEVER)
    await_idle(watch)
    (cut,) = listening(watch)
    watch.rows("SELECT pg_terminate_backend(%s)", [cut])
    watch.until(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'clarion listen' AND pid <> %s"
        " AND datname = current_database() AND state = 'idle'",
        1,
        [cut],
    )
    await_idle(watch)
    watch.publish(1)
    watch.wake_relays()
    watch.until_settled(1, seconds=10)


def test_O8_a_relay_finds_an_event_with_a_signal_and_not_without_when_it_does_not_poll(
    watch: Watch, crowd: Relays
) -> None:
    crowd.start(poll=NEVER)
    await_idle(watch)
    watch.publish(1)
    with pytest.raises(AssertionError, match="stays 0"):
        watch.until_settled(1, seconds=0.6)
    watch.wake_relays()
    watch.until_settled(1, seconds=10)


def test_O8_without_any_signal_polling_delivers(watch: Watch, crowd: Relays) -> None:
    crowd.start(poll=0.2)
    for count in (1, 2, 3):
        watch.publish(1)
        watch.until_settled(count, seconds=20)


def test_O3_two_busy_relays_and_an_idle_one(watch: Watch, crowd: Relays) -> None:
    ids = watch.publish(10)
    busy = [crowd.start(batch=5, stop_at="before commit") for _ in range(2)]
    for relay in busy:
        relay.hear_stopped_at("before commit")
    idle = crowd.start(batch=5, poll=NEVER)
    idle.hear("ready")
    watch.until(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'clarion relay' AND state = 'idle'"
        " AND datname = current_database() AND clock_timestamp() - state_change > '350 ms'",
        1,
    )
    assert watch.effects() == {}
    assert watch.value("SELECT count(*) FROM clarion.relay_note") == 2
    for relay in busy:
        relay.send(signal.SIGCONT)
    watch.until_settled(10)
    assert watch.effects() == dict.fromkeys(ids, 1)
    pids = {row[0] for row in watch.rows("SELECT DISTINCT relay FROM effect")}
    assert pids == {relay.process.pid for relay in busy}
    for relay in [*busy, idle]:
        relay.drain()


def test_O4_the_notifier_in_killed_relays_tells_each_person_of_each_post_once(watch: Watch, crowd: Relays) -> None:
    watch.connection.execute(
        """
        INSERT INTO clarion.person (id, handle, handle_folded) VALUES
            (1, 'ada', 'ada'), (2, 'bo', 'bo'), (3, 'chi', 'chi');
        INSERT INTO clarion.content_space (id, name, visibility) VALUES (1, 's', 'public');
        INSERT INTO clarion.watch VALUES (1, 2, 'all'), (1, 3, 'all');
        INSERT INTO clarion.outbox_event (type, actor, thread_key, post_key)
            SELECT 'comment.created', 1, 'issue:' || n % 20, 'comment:' || n FROM generate_series(1, 400) AS n;
        """
    )
    for _ in range(3):
        crowd.start(batch=10, notifier=True)
    for posts in (60, 180):
        watch.until("SELECT count(*) >= %s FROM clarion.post", params=[posts])
        crowd.processes.pop(0).kill()
        crowd.start(batch=10, notifier=True)
    watch.until_settled(400)
    assert watch.rows("SELECT DISTINCT state, attempts <= 2 FROM clarion.outbox_event") == [("done", True)]
    assert watch.rows("SELECT count(*), count(DISTINCT key) FROM clarion.post") == [(400, 400)]
    assert watch.rows("SELECT DISTINCT head FROM clarion.thread") == [(20,)]
    assert watch.rows(
        "SELECT person, count(*), min(first_unread), max(first_unread), min(last), max(last)"
        " FROM clarion.notification GROUP BY person ORDER BY person"
    ) == [(2, 20, 1, 1, 20, 20), (3, 20, 1, 1, 20, 20)]
    assert watch.rows("SELECT count(*), count(DISTINCT post) FROM clarion.hit WHERE person = 2") == [(400, 400)]
    assert watch.rows("SELECT person, unread_count FROM clarion.inbox_state WHERE person > 1 ORDER BY person") == [
        (2, 20),
        (3, 20),
    ]
