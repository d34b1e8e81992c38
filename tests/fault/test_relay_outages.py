"""Relays as real processes while what they stand on fails: the server, LISTEN, signals; and idle ones beside."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from clarion.store.embedded import EmbeddedPostgres
from clarion.store.migrate import migrate
from support.processes import FAST, ServerProcesses
from support.relay_effects import Watch
from support.relay_processes import Relays, relays

MANY = 3000
NEVER = 600.0
"""Seconds between polls of a relay that only signals can wake within a test."""
CLAIMED = "SELECT count(DISTINCT relay) FROM effect"


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


def await_idle(watch: Watch) -> None:
    """Waits until the relays have nothing to do and hear of what comes."""
    watch.until(
        "SELECT bool_and(state = 'idle' AND clock_timestamp() - state_change > '350 ms') FROM pg_stat_activity"
        " WHERE application_name IN ('clarion relay', 'clarion listen') AND datname = current_database()"
    )


def test_F64_postgres_killed_in_the_middle_and_every_event_is_applied_once(tmp_path: Path) -> None:
    folder = tmp_path / "postgres"
    with EmbeddedPostgres(folder, settings=FAST) as server:
        url = server.start()
        migrate(url)
        watch = Watch(url)
        watch.prepare()
        ids = watch.publish(MANY)
        with relays(url) as crowd:
            for _ in range(2):
                crowd.start(batch=20)
            watch.until("SELECT count(*) >= 200 FROM effect")
            with ServerProcesses(folder) as processes:
                watch.close()
                psycopg_dies(processes, url)
                processes.wait_until_gone(watchdog=False)
            watch = Watch(reachable(url))
            watch.until("SELECT count(*) FROM clarion.outbox_event WHERE state = 'waiting' AND attempts = 0", 0)
            watch.turn_clock(1000)
            watch.until_settled(MANY)
            assert not any(relay.gone for relay in crowd.processes)
            assert watch.effects() == dict.fromkeys(ids, 1)
            assert watch.rows("SELECT DISTINCT state, attempts FROM clarion.outbox_event") == [("done", 0)]
            watch.close()
