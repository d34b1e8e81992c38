"""The same story with the host's keys as uuid and text, and in a schema of another name (K1, K6)."""

from uuid import UUID

import pytest

from clarion.content import people, posts, resolvers, spaces, threads
from clarion.inbox import choices, listing, marks
from clarion.model.inbox import Tab, WatchLevel
from clarion.model.keys import Key, KeyType
from clarion.notifier import Notifier
from clarion.store.database import Command, Database, T
from clarion.store.migrate import migrate
from clarion.work.relay import Relay
from clarion.work.wake import Wake

KEYS: dict[KeyType, list[Key]] = {
    "uuid": [UUID(int=number) for number in range(1, 5)],
    "text": ["ann", "Böb", "c c", "d'"],
}


@pytest.fixture(params=sorted(KEYS))
def key_type(request: pytest.FixtureRequest) -> KeyType:
    """Each type of keys that is not the default."""
    return request.param  # type: ignore[no-any-return]


async def test_K1_a_comment_is_told_listed_and_read(empty_database: str, key_type: KeyType) -> None:
    migrate(empty_database, schema="tenant", person_key=key_type, space_key=key_type)
    ada, bo, chi, place = KEYS[key_type]
    async with Database(empty_database, "tenant") as database:

        async def do(command: Command[T]) -> T:
            async with database.session() as session:
                return await session.run(command)

        for person, handle in ((ada, "ada"), (bo, "bo"), (chi, "chi")):
            await do(people.add_person(person, handle=handle))
        await do(spaces.add_space(place, name="a place", visibility="public"))
        await do(choices.watch(chi, place, WatchLevel.ALL))
        await do(threads.open_thread("i1", space=place, kind="issue", title="T", body="@bo", author=ada))
        await do(posts.add_comment("c1", thread="i1", body="more", author=bo))
        notifier = Notifier(resolvers.RESOLVERS, key_type, chunk_people=2)
        await Relay(database, notifier, Wake()).drain()
        for person, reason, count in ((ada, "author", 1), (bo, "mentioned", 1), (chi, "watching", 2)):
            page = await do(listing.list_rows(person, tab=Tab.UNREAD))
            assert [(row.reason, row.posts_unread) for row in page.rows] == [(reason, count)]
            assert page.state.unread_count == 1
            await do(marks.read(person, [page.rows[0].thread]))
            assert (await do(listing.list_rows(person, tab=Tab.UNREAD))).state.unread_count == 0
