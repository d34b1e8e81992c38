"""A small world for tests of content: people, an organisation with a team, spaces; and a look at what was published."""

import asyncio
from typing import Any, LiteralString, TypeVar

from clarion.content.members import add_organisation_member, add_space_member, add_team_member
from clarion.content.organisations import add_organisation, add_team
from clarion.content.people import add_person
from clarion.content.resolvers import RESOLVERS
from clarion.content.spaces import add_space, add_space_team
from clarion.content.threads import open_thread
from clarion.model.event import Event
from clarion.model.happening import Happening
from clarion.store.database import Command, Database

T = TypeVar("T")

ADA, BOB, CYN = 1, 2, 3
PUBLIC, PRIVATE, MEMBERS, TEAM = 10, 20, 30, 40
"""Spaces: read by everybody; by Ada and Bob; by the organisation's; by the team's."""


class World:
    """Runs commands, each in a transaction of its own, and reads what became of them."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def run(self, command: Command[T]) -> T:
        async with self.database.session() as session:
            return await session.run(command)

    async def rows(self, sql: LiteralString, **params: Any) -> list[dict[str, Any]]:
        async with self.database.session() as session:
            cursor = await session.connection.execute(sql, params)
            return await cursor.fetchall() if cursor.description else []

    async def events(self, *types: str) -> list[Event]:
        """Every event in order, or those of these types."""
        rows = await self.rows(
            "SELECT id, type, actor, thread_key, post_key, space, keys, created_at FROM clarion.outbox_event"
            " WHERE %(types)s::text[] = '{}' OR type = ANY(%(types)s) ORDER BY id",
            types=list(types),
        )
        return [Event(**row) for row in rows]

    async def types(self) -> list[str]:
        return [event.type for event in await self.events()]

    async def happenings(self, *types: str) -> list[Happening | None]:
        """What the resolver says now of every event of these types, in order; None where it is left out."""
        events = await self.events(*types)
        async with self.database.session() as session:
            said = {
                event_type: await RESOLVERS[event_type](session, [e for e in events if e.type == event_type])
                for event_type in types
            }
        return [said[event.type].get(event.id) for event in events]

    async def someone_waits(self) -> None:
        """Return once a connection to this database waits for a lock."""
        async with asyncio.timeout(10):
            while not await self.rows(
                "SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ):
                pass

    async def tell(self, person: int, thread: str, space: int) -> None:
        """Give the person an unread notification of a post by somebody else, as the notifier would."""
        await self.rows("INSERT INTO clarion.space VALUES (%(space)s) ON CONFLICT DO NOTHING", space=space)
        await self.rows(
            "WITH t AS (INSERT INTO clarion.thread (key, space, head) VALUES (%(thread)s, %(space)s, 1)"
            " ON CONFLICT (key) DO UPDATE SET head = 1 RETURNING id),"
            " p AS (INSERT INTO clarion.post (thread, position, key, kind)"
            " SELECT id, 1, %(thread)s || '!', 'comment' FROM t ON CONFLICT DO NOTHING),"
            " s AS (INSERT INTO clarion.inbox_state AS i (person, version, unread_count) VALUES (%(person)s, 1, 1)"
            " ON CONFLICT (person) DO UPDATE SET version = i.version + 1, unread_count = i.unread_count + 1"
            " RETURNING version)"
            " INSERT INTO clarion.notification (thread, person, seq, reason, bulk, first_unread, last)"
            " SELECT t.id, %(person)s, s.version, 'watching', 'watching', 1, 1 FROM t, s",
            thread=thread,
            space=space,
            person=person,
        )

    async def shown(self, person: int) -> list[str]:
        """The threads of the person's rows that are not hidden."""
        rows = await self.rows(
            "SELECT t.key FROM clarion.notification n JOIN clarion.thread t ON t.id = n.thread"
            " WHERE n.person = %(person)s AND NOT n.hidden ORDER BY t.key",
            person=person,
        )
        return [row["key"] for row in rows]

    async def unread(self, person: int) -> int:
        """The person's badge, which equals the rows that are unread."""
        rows = await self.rows(
            "SELECT unread_count, (SELECT count(*) FROM clarion.unread(%(person)s)) AS rows"
            " FROM clarion.inbox_state WHERE person = %(person)s",
            person=person,
        )
        assert rows[0]["unread_count"] == rows[0]["rows"]
        return int(rows[0]["rows"])


async def make_world(database: Database) -> World:
    """Ada, Bob and Cyn; acme with the team core, of which Bob is; spaces 10 to 40."""
    world = World(database)
    for person, handle in ((ADA, "ada"), (BOB, "bob"), (CYN, "cyn")):
        await world.run(add_person(person, handle=handle, name=handle.title()))
    await world.run(add_organisation("acme", handle="acme", name="Acme"))
    await world.run(add_team("core", organisation="acme", handle="core"))
    await world.run(add_organisation_member("acme", BOB))
    await world.run(add_team_member("core", BOB))
    await world.run(add_space(PUBLIC, name="acme/docs", visibility="public", organisation="acme"))
    await world.run(add_space(PRIVATE, name="ada/diary", visibility="private"))
    await world.run(add_space(MEMBERS, name="acme/plans", visibility="members", organisation="acme"))
    await world.run(add_space(TEAM, name="acme/core", visibility="private", organisation="acme"))
    await world.run(add_space_member(PRIVATE, ADA, role="admin"))
    await world.run(add_space_member(PRIVATE, BOB))
    await world.run(add_space_team(TEAM, "core"))
    await world.rows("DELETE FROM clarion.outbox_event")
    return world


async def open_issue(world: World, key: str = "issue:1", **changes: Any) -> None:
    """Open an issue of Ada's in the public space."""
    facts: dict[str, Any] = {"space": PUBLIC, "kind": "issue", "title": "It fails", "body": "Hi", "author": ADA}
    await world.run(open_thread(key, **{**facts, **changes}))
