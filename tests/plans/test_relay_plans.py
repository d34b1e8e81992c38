"""What a claim and a judgement read, at size: asserted on plans and buffers, never on time."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from clarion.model.event import Event
from clarion.model.happening import Happening, Reading
from clarion.notifier import Notifier
from clarion.store.database import Database, Row, Session
from clarion.store.queries import Statement
from clarion.work.delays import BEGINNING
from support.databases import create_database, drop_database

TYPE = "test.happened"
SETTLED = FUTURE = 200_000
CROWD = 100_000
LIMIT = 100
BUFFERS_A_ROW = 60
"""Each person told: probes of some ten indexes of three levels, and rows written into eight."""
BUFFERS_A_STATEMENT = 500
LARGE = {"person", "inbox_state", "watch", "thread_person", "notification", "hit", "block", "mute", "space_member"}

OUTBOX = f"""
INSERT INTO clarion.outbox_event (type, state, settled_at)
SELECT '{TYPE}', 'done', now() FROM generate_series(1, {SETTLED});
INSERT INTO clarion.outbox_event (type, available_at)
SELECT '{TYPE}', now() + interval '1 day' + i * interval '1 second' FROM generate_series(1, {FUTURE}) i;
INSERT INTO clarion.outbox_event (type, available_at)
SELECT '{TYPE}', now() - i * interval '1 second' FROM generate_series(1, 10) i;
"""

PUBLIC, PRIVATE = 1, 2
DENSE, SPARSE = 1, 2
"""A thread of the public space, which everybody watches; one of the private space, which a few hear of."""
ACTOR = 0
FEW = [CROWD // 10 * i + 7 for i in range(10)]

SEED = f"""
INSERT INTO clarion.person (id, handle, handle_folded) SELECT i, 'p' || i, 'p' || i FROM generate_series(0, {CROWD}) i;
INSERT INTO clarion.inbox_state (person, version, unread_count) SELECT i, 2, 2 FROM generate_series(0, {CROWD}) i;
INSERT INTO clarion.content_space (id, name, visibility) VALUES ({PUBLIC}, 'a', 'public'), ({PRIVATE}, 'b', 'private');
INSERT INTO clarion.space_member (space, person) SELECT {PRIVATE}, i FROM generate_series(0, {CROWD}) i;
INSERT INTO clarion.space VALUES ({PUBLIC}), ({PRIVATE});
INSERT INTO clarion.thread (key, space, title, head) VALUES ('dense', {PUBLIC}, 'T', 1), ('sparse', {PRIVATE}, 'T', 1);
INSERT INTO clarion.post (thread, position, key, kind) SELECT id, 1, 'old:' || key, 'comment' FROM clarion.thread;
INSERT INTO clarion.watch SELECT {PUBLIC}, i, 'all' FROM generate_series(1, {CROWD}) i;
INSERT INTO clarion.watch SELECT {PRIVATE}, i, 'participating' FROM generate_series(1, {CROWD}) i;
INSERT INTO clarion.thread_person (thread, person, subscribed, why)
SELECT {SPARSE}, person, true, 'chosen' FROM unnest('{{{",".join(map(str, FEW))}}}'::bigint[]) person;
INSERT INTO clarion.thread_person (thread, person, subscribed, read_position)
SELECT {SPARSE}, i, false, 1 FROM generate_series(1, {CROWD}) i ON CONFLICT DO NOTHING;
INSERT INTO clarion.notification (thread, person, seq, reason, bulk, first_unread, last)
SELECT t.id, i, t.id, 'watching', 'watching', 1, 1 FROM clarion.thread t, generate_series(1, {CROWD}) i;
INSERT INTO clarion.hit (post, person, kind, thread, position)
SELECT p.id, i, 'mentioned', p.thread, 1 FROM clarion.post p, generate_series(1, {CROWD}) i;
INSERT INTO clarion.block (person, blocked) SELECT i, i + 1 FROM generate_series(1, {CROWD}) i;
INSERT INTO clarion.mute (person, muted) SELECT i, i + 1 FROM generate_series(1, {CROWD}) i;
"""


@dataclass(frozen=True)
class Plan:
    """What a statement read and how."""

    buffers: int
    indexes: set[str]
    scanned: set[str]


def read_plan(explained: Any) -> Plan:
    top = (explained if isinstance(explained, list) else json.loads(explained))[0]["Plan"]
    nodes = [node for node in _nodes(top) if node["Actual Loops"]]
    return Plan(
        buffers=top["Shared Hit Blocks"] + top["Shared Read Blocks"],
        indexes={node["Index Name"] for node in nodes if "Index Name" in node},
        scanned={node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"},
    )


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)


class Explaining(Session):
    """Before it sends a statement, it runs it under EXPLAIN, undone."""

    def __init__(self, inner: Session) -> None:
        super().__init__(inner.connection, inner.queries)
        self.plans: dict[str, Plan] = {}

    async def send(self, statement: Statement) -> list[Row]:
        async with self.connection.transaction(force_rollback=True):
            cursor = await self.connection.execute(
                f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {self.queries[statement.name]}".encode(),
                statement.params,
                prepare=False,
            )
            (row,) = await cursor.fetchall()
        self.plans[statement.name] = read_plan(row["QUERY PLAN"])
        return await super().send(statement)


@pytest.mark.parametrize("mode", ["custom", "generic"])
async def test_O9_a_claim_reads_what_is_due_beside_settled_and_future_rows(database: Database, mode: str) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(OUTBOX.encode())
        connection.execute("VACUUM ANALYZE clarion.outbox_event")
    session = await database.connect("claim", autocommit=False, plan_cache_mode=f"force_{mode}_plan")
    async with session.connection:
        explaining = Explaining(session)
        rows = await explaining.fetch(
            "claim_events",
            consumer="notifier",
            types=[TYPE],
            limit=LIMIT,
            alone=False,
            from_due=BEGINNING,
        )
        await session.connection.rollback()
    assert len(rows) == 10
    plan = explaining.plans["claim_events"]
    assert plan.indexes == {"outbox_event_due"}
    assert plan.buffers < 4 * LIMIT


@pytest.fixture(scope="module")
def crowd_url(server_url: str, template: str) -> Iterator[str]:
    url = create_database(server_url, template)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SEED.encode())
        connection.execute("VACUUM ANALYZE")
    yield url
    drop_database(url, server_url)


@pytest.fixture
async def crowd(crowd_url: str) -> AsyncIterator[Explaining]:
    """A relay's session in a database of 100,000 people; whatever is done is undone."""
    async with Database(crowd_url) as database:
        session = await database.connect("relay", autocommit=False)
        async with session.connection:
            yield Explaining(session)
            await session.connection.rollback()


async def tell(session: Explaining, thread: str, space: int, named: Sequence[int] = ()) -> int:
    """Tell a new post of a thread; return how many rows were written for it."""

    async def resolve(_: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
        return {
            event.id: Happening(
                thread=thread,
                space=space,
                post="new",
                actor=ACTOR,
                title="T",
                assigned=tuple(named),
                subscribes_actor="commented",
            )
            for event in events
        }

    (row,) = await session.fetch(
        "publish_event",
        type=TYPE,
        keys="{}",
        actor=None,
        thread=thread,
        post=None,
        space=None,
        available_at=None,
        idempotency_key=None,
        source="",
    )
    (found,) = await session.fetch("get_event", event=row["id"])
    event = Event(**{name: found[name] for name in Event.__dataclass_fields__})
    handled = await Notifier({TYPE: resolve}, "bigint").handle(session, [event])
    return sum(handled.notified.values())


def assert_bounded(plans: Mapping[str, Plan], people: int) -> None:
    for name, plan in plans.items():
        print(f"{name} for {people} people: {plan.buffers} buffers, scanned {sorted(plan.scanned & LARGE)}")  # noqa: T201
    assert not {name for name, plan in plans.items() if plan.scanned & LARGE}
    most = BUFFERS_A_ROW * people + BUFFERS_A_STATEMENT
    assert not {name: plan.buffers for name, plan in plans.items() if plan.buffers > most}


async def test_W5_a_dense_crowd_is_judged_by_its_chunk_alone(crowd: Explaining) -> None:
    assert await tell(crowd, "dense", PUBLIC) == 1_999  # and who wrote it
    assert_bounded(crowd.plans, 2_000)


async def test_W5_a_few_among_many_are_looked_up(crowd: Explaining) -> None:
    assert await tell(crowd, "sparse", PRIVATE) == len(FEW)
    assert_bounded(crowd.plans, len(FEW))


async def test_W2_the_named_among_many_are_looked_up(crowd: Explaining) -> None:
    assert await tell(crowd, "sparse", PRIVATE, named=FEW) == len(FEW)
    assert "follow_threads" in crowd.plans
    assert_bounded(crowd.plans, len(FEW))
