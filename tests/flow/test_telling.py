"""From a committed event to the right inbox, with resolvers of the test's own."""

from collections.abc import Sequence

from clarion.model.event import Event
from clarion.model.happening import Happening, Reading
from clarion.notifier import Notifier
from clarion.outbox.publish import NewEvent, publish
from clarion.store.database import Database
from clarion.work.relay import Relay
from clarion.work.wake import Wake


async def test_W5_one_comment_reaches_one_watching_inbox(database: Database) -> None:
    async def comment(_: Reading, events: Sequence[Event]) -> dict[int, Happening]:
        return {
            event.id: Happening(
                thread="issue:1",
                space=1,
                post=f"comment:{event.keys['id']}",
                actor=1,
                title="A title",
                text="hello @bo",
            )
            for event in events
        }

    async with database.session() as session:
        for person, handle in ((1, "ada"), (2, "bo"), (3, "chi")):
            await session.connection.execute(
                "INSERT INTO clarion.person (id, handle, handle_folded) VALUES (%s, %s, %s)", [person, handle, handle]
            )
        await session.connection.execute(
            "INSERT INTO clarion.content_space (id, name, visibility) VALUES (1, 's', 'public')"
        )
        await session.connection.execute("INSERT INTO clarion.watch VALUES (1, 1, 'all'), (1, 3, 'all')")
        await session.run(publish(NewEvent(type="comment.created", keys={"id": 1}, actor=1, thread="issue:1")))
    relay = Relay(database, Notifier({"comment.created": comment}, "bigint"), Wake())
    assert await relay.drain() == 1
    async with database.session() as session:
        rows = await (
            await session.connection.execute(
                "SELECT person, reason::text, seq, first_unread, last FROM clarion.notification ORDER BY person"
            )
        ).fetchall()
        assert rows == [
            {"person": 2, "reason": "mentioned", "seq": 1, "first_unread": 1, "last": 1},
            {"person": 3, "reason": "watching", "seq": 1, "first_unread": 1, "last": 1},
        ]
        states = await (
            await session.connection.execute("SELECT person, version, unread_count FROM clarion.inbox_state ORDER BY 1")
        ).fetchall()
        assert [tuple(row.values()) for row in states if row["unread_count"]] == [(2, 1, 1), (3, 1, 1)]
