"""Relays that are stopped, or die, at a named point of a batch."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import psycopg

from clarion.content import resolvers
from clarion.notifier import Notifier
from clarion.store.database import Database
from clarion.work.relay import Relay
from clarion.work.wake import Wake

POINTS = ("noted", "candidates", "locked", "written", "before commit", "after commit")
"""Where a relay can be stopped, in the order in which a batch passes them."""

LOOKS = 20_000
"""How often the server is asked before a wait is given up."""


class Died(BaseException):
    """The relay's process is gone: nothing of it is tidied up."""


@dataclass
class At:
    """Does something once, when a batch first passes a point."""

    point: str
    act: Callable[[], None]
    passed: bool = False

    def __call__(self, point: str) -> None:
        if point == self.point and not self.passed:
            self.passed = True
            self.act()


def nothing(_point: str) -> None:
    """The barrier of a relay that nobody stops."""


def make_relay(
    database: Database, *, batch: int = 100, chunk_people: int = 2000, barrier: Callable[[str], None] = nothing
) -> Relay:
    """A relay of Clarion's own content whose every point passes the barrier."""
    notifier = Notifier(resolvers.RESOLVERS, "bigint", chunk_people=chunk_people, barrier=barrier)
    same_each_time = Random(0)  # noqa: S311 - so that an example runs the same way again
    return Relay(database, notifier, Wake(), batch=batch, barrier=barrier, random=same_each_time)


def wait_until(url: str, is_done: Callable[[], bool]) -> None:
    """Returns once something is done, or somebody in this database waits for a lock."""
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(LOOKS):
            if (
                is_done()
                or connection.execute(
                    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                ).fetchone()
            ):
                return
    raise AssertionError("neither done nor waiting for a lock")
