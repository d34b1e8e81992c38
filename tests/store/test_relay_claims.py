"""O9: a claim reads a bounded number of buffers, whatever lies around: settled, in the future, not cleaned away."""

from collections.abc import Iterator
from datetime import datetime
from math import inf
from typing import Any

import psycopg
import pytest
from psycopg import IsolationLevel

from clarion.store.database import Database, Session
from clarion.work import delays
from clarion.work.delays import BEGINNING
from clarion.work.relay import Relay
from clarion.work.wake import Wake
from support.relay_effects import TYPE, Effects, Watch

MANY = 200_000
LIMIT = 100
FEW_BUFFERS = 4 * LIMIT + 50
"""For 100 rows: each read and locked, in a table of a hundred thousand; not one for each thousand around them."""


@pytest.fixture
def watch(database_url: str) -> Iterator[Watch]:
    watch = Watch(database_url)
    yield watch
    watch.close()


async def claim_buffers(database: Database, from_due: datetime = BEGINNING, *, alone: bool = False) -> tuple[int, int]:
    """How many buffers a claim reads, and how many rows it finds; it is rolled back."""
    session = await database.connect("claim", autocommit=False, plan_cache_mode="force_custom_plan")
    async with session.connection as connection:
        params = {"consumer": "notifier", "types": [TYPE], "limit": 1 if alone else LIMIT, "alone": alone}
        query = f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {database.queries['claim_events']}"
        rows = await (await connection.execute(query.encode(), {**params, "from_due": from_due})).fetchall()
        await connection.rollback()
        plan: dict[str, Any] = rows[0]["QUERY PLAN"][0]["Plan"]
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], round(plan["Actual Rows"])


async def test_O9_F68_many_settled_and_many_future_rows_cost_a_claim_nothing(database: Database, watch: Watch) -> None:
    watch.connection.execute(
        "INSERT INTO clarion.outbox_event (type, state, settled_at)"
        " SELECT %s, 'done', now() FROM generate_series(1, %s)",
        [TYPE, MANY],
    )
    watch.publish(MANY, due_in=86_400)
    watch.publish(10)
    for statistics in (False, True):
        if statistics:
            watch.connection.execute("VACUUM ANALYZE clarion.outbox_event")
        buffers, rows = await claim_buffers(database)
        print(f"claim beside {MANY} settled and {MANY} future rows: {buffers} buffers")  # noqa: T201
        assert rows == 10
        assert buffers < FEW_BUFFERS
        assert (await claim_buffers(database, alone=True))[0] < FEW_BUFFERS
    watch.publish(MANY // 10)
    buffers, rows = await claim_buffers(database)
    print(f"claim at the head of {MANY // 10}, by statistics that know of 10: {buffers} buffers")  # noqa: T201
    assert rows == LIMIT
    assert buffers < FEW_BUFFERS


async def test_O9_F67_an_old_snapshot_costs_only_the_claims_from_the_beginning(
    database: Database, watch: Watch
) -> None:
    with psycopg.connect(database.url) as old:
        old.isolation_level = IsolationLevel.REPEATABLE_READ
        old.execute("SELECT count(*) FROM clarion.outbox_event")
        watch.publish(MANY // 4)
        watch.connection.execute(
            "UPDATE clarion.outbox_event SET state = 'done', settled_at = now() WHERE state = 'waiting'"
        )
        watch.connection.execute("VACUUM ANALYZE clarion.outbox_event")
        watch.publish(LIMIT)
        lowest = watch.value("SELECT min(available_at) FROM clarion.outbox_event WHERE state = 'waiting'")
        near, rows = await claim_buffers(database, lowest)
        far, _ = await claim_buffers(database)
        print(f"claim under an old snapshot: {near} buffers, from the beginning {far}")  # noqa: T201
        assert rows == LIMIT
        assert near < FEW_BUFFERS < far


async def test_O9_a_busy_relay_claims_from_the_beginning_one_time_in_twenty(
    database: Database, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.prepare()
    for _ in range(100):
        watch.publish(2)
    watch.rows("UPDATE clarion.outbox_event SET alone = true WHERE id = ANY(%s) RETURNING id", [watch.publish(100)])
    starts: dict[bool, list[datetime]] = {False: [], True: []}
    fetch = Session.fetch

    async def spy(session: Session, name: str, /, **params: Any) -> list[dict[str, Any]]:
        if name == "claim_events":
            starts[params["alone"]].append(params["from_due"])
        return await fetch(session, name, **params)

    monkeypatch.setattr(Session, "fetch", spy)
    monkeypatch.setattr(delays, "REWIND_SECONDS", inf)
    await Relay(database, Effects(), Wake(), batch=2).drain()
    for claims in starts.values():
        assert len(claims) > 100
        assert claims.count(BEGINNING) <= len(claims) / 20 + 3
