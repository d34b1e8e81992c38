"""The number of statements for one event does not depend on how many people hear of it: counted, never timed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from clarion.model.event import Event
from clarion.model.happening import Happening, Reading
from clarion.notifier import Notifier
from clarion.outbox.publish import NewEvent, publish
from clarion.store.database import Database, Row, Session
from clarion.store.queries import Statement
from clarion.work.relay import Relay
from clarion.work.wake import Wake
from support.databases import create_database, drop_database

TYPE = "test.happened"
SPACE = 1
CHUNK = 2_000


class Counting(Session):
    """Counts what is sent, by name; all sessions of a database into one counter."""

    def __init__(self, inner: Session, sent: Counter[str]) -> None:
        super().__init__(inner.connection, inner.queries)
        self._sent = sent

    async def send(self, statement: Statement) -> list[Row]:
        self._sent[statement.name] += 1
        return await super().send(statement)


class CountingRelay(Relay):
    """Tells what each of its turns sent, until one finds nothing due."""

    async def turns(self) -> list[Counter[str]]:
        main, notes = await self._connect()
        counts: list[Counter[str]] = []
        moved = 1
        while moved:
            sent: Counter[str] = Counter()
            moved = await self.turn(Counting(main, sent), Counting(notes, sent))
            counts.append(sent)
        await main.connection.close()
        await notes.connection.close()
        return counts[:-1]


def resolver(named: Sequence[int]) -> Any:
    async def resolve(_: Reading, events: Sequence[Event]) -> Mapping[int, Happening]:
        return {
            event.id: Happening(
                thread="t",
                space=SPACE,
                post=f"p{event.id}",
                actor=0,
                title="T",
                subscribes_actor="commented",
                assigned=tuple(named),
            )
            for event in events
        }

    return resolve


PEOPLE = """
INSERT INTO clarion.content_space (id, name, visibility) VALUES (1, 's', 'public');
INSERT INTO clarion.thread (key) VALUES ('t');
INSERT INTO clarion.person (id, handle, handle_folded) SELECT i, 'p' || i, 'p' || i FROM generate_series(0, {people}) i;
"""
AUDIENCES = {
    "watch": "INSERT INTO clarion.watch SELECT 1, i, 'all' FROM generate_series(1, {people}) i",
    "follow": (
        "INSERT INTO clarion.thread_person (thread, person, subscribed, why)"
        " SELECT t.id, i, true, 'chosen' FROM clarion.thread t, generate_series(1, {people}) i"
    ),
    "name": "SELECT 1",
}


async def tell(database: Database, people: int, how: str) -> tuple[list[Counter[str]], list[Counter[str]]]:
    """Tell people of an event, and of a second one; return the statements of each turn of both."""
    async with database.session() as session:
        for sql in (PEOPLE, AUDIENCES[how]):
            await session.connection.execute(sql.format(people=people).encode())
    named = range(1, people + 1) if how == "name" else ()
    notifier = Notifier({TYPE: resolver(named)}, "bigint", chunk_people=CHUNK + 1)  # who acted is a candidate too
    relay = CountingRelay(database, notifier, Wake())
    counts = []
    for _ in range(2):
        async with database.session() as session:
            await session.run(publish(NewEvent(type=TYPE, thread="t")))
        counts.append(await relay.turns())
    async with database.session() as session:
        cursor = await session.connection.execute(
            "SELECT count(*) AS told, min(last) AS last FROM clarion.notification"
        )
        assert await cursor.fetchone() == {"told": people, "last": 2}
    return counts[0], counts[1]


@pytest.mark.parametrize("how", ["watch", "follow", "name"])
async def test_O4_ten_people_and_two_thousand_take_the_same_statements(
    server_url: str, template: str, how: str
) -> None:
    found = {}
    for people in (10, CHUNK):
        url = create_database(server_url, template)
        async with Database(url) as database:
            found[people] = await tell(database, people, how)
        drop_database(url, server_url)
    ((first_few,), (second_few,)) = found[10]
    ((first_many,), (second_many,)) = found[CHUNK]
    assert first_few == first_many
    assert second_few == second_many
    assert second_many["write_notifications"] == 1
    assert second_many.total() <= 25


@pytest.mark.parametrize("how", ["watch", "follow"])
async def test_O4_ten_thousand_people_take_those_statements_for_each_chunk(database: Database, how: str) -> None:
    _, chunks = await tell(database, 5 * CHUNK, how)
    assert len(chunks) == 5
    first, *others = chunks
    for chunk in others:
        assert chunk.total() <= first.total()
        assert chunk["write_notifications"] == 1
    assert first.total() <= 25
