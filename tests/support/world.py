"""A small world for flow tests: people, a space, threads; commands in, inboxes out."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from clarion.content import members, people, resolvers, spaces
from clarion.inbox import choices
from clarion.notifier import Notifier
from clarion.store.database import Command, Database
from clarion.work.relay import Relay
from clarion.work.wake import Wake

T = TypeVar("T")

ADA, BO, CHI, DARA, EMIL = 1, 2, 3, 4, 5
HANDLES = {ADA: "ada", BO: "bo", CHI: "chi", DARA: "dara", EMIL: "emil"}
HARBOR, VAULT = 10, 20
"""A public space and a private one."""


@dataclass(frozen=True)
class Seen:
    """A row of somebody's inbox, as tests compare it."""

    reason: str
    unread: bool
    posts: int


class World:
    """Runs commands, each in a transaction of its own, and reads inboxes by plain SQL."""

    def __init__(self, database: Database, **notifier: Any) -> None:
        self.database = database
        self.notifier = Notifier(resolvers.RESOLVERS, "bigint", **notifier)
        self.relay = Relay(database, self.notifier, Wake())

    async def settle_in(self, private_members: Iterable[int] = (ADA, BO)) -> None:
        """Make the people, the public space and the private one."""
        for person, handle in HANDLES.items():
            await self.do(people.add_person(person, handle=handle))
        await self.do(spaces.add_space(HARBOR, name="lumen/harbor", visibility="public"))
        await self.do(spaces.add_space(VAULT, name="lumen/vault", visibility="private"))
        for person in private_members:
            await self.do(members.add_space_member(VAULT, person))

    async def do(self, command: Command[T]) -> T:
        """Run one command and commit it."""
        async with self.database.session() as session:
            return await session.run(command)

    async def tell(self, *commands: Command[Any]) -> None:
        """Run the commands one by one, then handle what is due."""
        for command in commands:
            await self.do(command)
        await self.relay.drain()

    async def rows(self, sql: str, *params: Any) -> list[dict[str, Any]]:
        """Return the rows of a plain statement."""
        async with self.database.session() as session:
            cursor = await session.connection.execute(sql, params)
            return await cursor.fetchall() if cursor.description else []

    async def thread(self, key: str) -> int:
        """Return our id of a thread."""
        return await self.do(choices.find_thread(key))

    async def inbox(self, thread: str) -> dict[int, Seen]:
        """Return everybody's row of a thread, hidden ones left out; badges are checked on the way."""
        await self.check()
        rows = await self.rows(
            "SELECT n.person, n.reason::text, clarion.is_unread(n, s.read_seq) AS unread,"
            " (SELECT count(*) FROM clarion.shown_posts(n)) AS posts"
            " FROM clarion.notification n JOIN clarion.thread t ON t.id = n.thread"
            " JOIN clarion.inbox_state s USING (person)"
            " WHERE t.key = %s AND NOT n.hidden",
            thread,
        )
        return {row["person"]: Seen(row["reason"], row["unread"], row["posts"]) for row in rows}

    async def check(self) -> None:
        """Every badge equals the length of its unread list (I2); nothing waits or was set aside."""
        wrong = await self.rows(
            "SELECT s.person, s.unread_count, count(n.person) AS listed FROM clarion.inbox_state s"
            " LEFT JOIN clarion.notification n ON n.person = s.person AND clarion.is_unread(n, s.read_seq)"
            " GROUP BY s.person, s.unread_count HAVING s.unread_count <> count(n.person)"
        )
        assert not wrong
        assert not await self.rows(
            "SELECT id, type, last_error FROM clarion.outbox_event WHERE state = 'set_aside' OR last_error IS NOT NULL"
        )
