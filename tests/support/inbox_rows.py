"""An inbox whose rows are written by plain SQL, as the notifier writes them, with a guard over every write."""

import asyncio
from typing import Any, TypeVar

from clarion.inbox import listing, locked
from clarion.model.inbox import Row, Tab
from clarion.store.database import Command, Database, Session

T = TypeVar("T")

ME, BO, CHI = 1, 2, 3
OPEN, CLOSED = 10, 20
"""Spaces: read by everybody, and by Bo alone."""

SETUP = """
INSERT INTO clarion.person (id, handle, handle_folded) VALUES (1, 'ada', 'ada'), (2, 'bo', 'bo'), (3, 'chi', 'chi');
INSERT INTO clarion.content_space (id, name, visibility) VALUES (10, 'open', 'public'), (20, 'closed', 'private');
INSERT INTO clarion.space_member (space, person) VALUES (20, 2);
INSERT INTO clarion.space SELECT id FROM clarion.content_space;
INSERT INTO clarion.thread (key, space, kind, title, link)
SELECT 'issue:' || i, 10, 'issue', 'Title ' || i, '/issues/' || i FROM generate_series(1, 20) AS i;

CREATE FUNCTION public.must_be_locked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM clarion.inbox_state s
                   WHERE s.person = coalesce(NEW.person, OLD.person) AND s.raised_in = pg_current_xact_id()) THEN
        RAISE EXCEPTION 'a notification of % changed and the version did not', coalesce(NEW.person, OLD.person);
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER must_be_locked AFTER INSERT OR UPDATE OR DELETE ON clarion.notification
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.must_be_locked();
"""

BUMP = """
WITH s AS (
    UPDATE clarion.inbox_state s
    SET version = s.version + (s.raised_in IS DISTINCT FROM pg_current_xact_id())::integer,
        raised_in = pg_current_xact_id(),
        unread_count = s.unread_count + (SELECT count(*) FROM unnest(%(threads)s::bigint[]) AS g(thread)
            WHERE NOT EXISTS (SELECT 1 FROM clarion.unread(%(person)s) u WHERE u.thread = g.thread))
    WHERE s.person = %(person)s
    RETURNING s.version, s.person, s.read_seq
), t AS (
    UPDATE clarion.thread SET head = head + 1 WHERE id = ANY(%(threads)s::bigint[]) RETURNING id, head
), p AS (
    INSERT INTO clarion.post (thread, position, key, kind, author)
    SELECT id, head, id || ':' || head, 'comment', %(author)s FROM t
)
INSERT INTO clarion.notification AS n (thread, person, seq, reason, bulk, first_unread, last)
SELECT t.id, s.person, s.version, 'watching', 'watching', t.head, t.head FROM t, s
ON CONFLICT (thread, person) DO UPDATE
SET seq = excluded.seq, last = excluded.last, active_at = excluded.active_at,
    first_unread = CASE WHEN clarion.is_unread(n, (SELECT read_seq FROM s))
                        THEN n.first_unread ELSE excluded.first_unread END,
    unread_seq = NULL, read_at = NULL, done_at = NULL, snoozed_until = NULL, hidden = false
"""


class Inbox:
    """Runs commands, each in a transaction of its own, and tells people of posts."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def set_up(self) -> None:
        """Make people, spaces and threads 1 to 20, and the guard."""
        async with self.database.session() as session:
            for statement in SETUP.split(";\n\n"):
                await session.connection.execute(statement)

    async def do(self, command: Command[T]) -> T:
        async with self.database.session() as session:
            return await session.run(command)

    async def rows(self, sql: str, **params: Any) -> list[dict[str, Any]]:
        async with self.database.session() as session:
            cursor = await session.connection.execute(sql, params)
            return await cursor.fetchall() if cursor.description else []

    async def bump(self, *threads: int, person: int = ME, author: int = BO) -> None:
        """Tell a person of one new post in each thread, in one transaction."""
        async with self.database.session() as session:
            await bump(session, *threads, person=person, author=author)

    async def page(self, tab: Tab = Tab.UNREAD, **filters: Any) -> list[int]:
        """Return the threads of a tab's first page."""
        found = await self.do(listing.list_rows(ME, tab=tab, **filters))
        return [row.thread for row in found.rows]

    async def row(self, thread: int) -> Row:
        return await self.do(listing.get_row(ME, thread))

    async def badge(self, person: int = ME) -> int:
        """Return the badge, which is the length of the list and the number of unread rows (I2)."""
        verified = await self.do(listing.verify_person(person))
        assert verified.agrees, verified
        return verified.stored

    async def version(self, person: int = ME) -> int:
        return (await self.do(listing.state(person))).version

    async def someone_waits(self) -> None:
        """Return once a connection to this database waits for a lock."""
        async with asyncio.timeout(10):
            while not await self.rows(
                "SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ):
                pass

    async def turn_clock(self, seconds: int) -> None:
        """Let `clarion.now()` be so much later from now on."""
        await self.rows(
            "CREATE OR REPLACE FUNCTION clarion.now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS"
            f" $$ SELECT pg_catalog.now() + interval '{seconds} seconds' $$"
        )


async def bump(session: Session, *threads: int, person: int = ME, author: int = BO) -> None:
    """Tell in the caller's transaction: the person is locked first, as the notifier does."""
    await session.run(locked.lock(person))
    params = {"threads": list(threads), "person": person, "author": author}
    await session.connection.execute(BUMP, params)
