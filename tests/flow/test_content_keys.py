"""Content with keys of every type that a host may have (K1)."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from clarion.content.members import add_space_member, remove_space_member
from clarion.content.people import add_person, forget_person
from clarion.content.resolvers import RESOLVERS
from clarion.content.roles import assign
from clarion.content.spaces import add_space, set_visibility
from clarion.content.threads import open_thread
from clarion.model.event import Event
from clarion.model.keys import Key, KeyType
from clarion.outbox.publish import notify
from clarion.store.database import Database
from clarion.store.migrate import migrate
from support.databases import create_database, drop_database

KEYS: dict[KeyType, list[Key]] = {
    "bigint": [7, 2**62],
    "uuid": [UUID(int=7), UUID(int=8)],
    "text": ["ada lovelace", "bob's {key}, 'quoted'"],
}


@pytest.fixture
def url(server_url: str) -> Iterator[str]:
    url = create_database(server_url)
    yield url
    drop_database(url, server_url)


@pytest.mark.parametrize("person_key", KEYS)
@pytest.mark.parametrize("space_key", KEYS)
async def test_K1_keys_come_back_in_the_hosts_own_type(url: str, person_key: KeyType, space_key: KeyType) -> None:
    migrate(url, person_key=person_key, space_key=space_key)
    ada, bob = KEYS[person_key]
    space = KEYS[space_key][1]
    async with Database(url) as database, database.session() as session:
        for person, handle in ((ada, "ada"), (bob, "bob")):
            await session.run(add_person(person, handle=handle))
        await session.run(add_space(space, name="docs", visibility="public"))
        await session.run(open_thread("issue:1", space=space, kind="issue", title="It fails", author=ada))
        change = await session.run(assign("issue:1", [ada, bob], actor=ada))
        await session.run(notify([bob], title="Hello", actor=ada))
        assert await session.run(add_space_member(space, bob))
        await session.run(set_visibility(space, "private"))
        assert await session.run(remove_space_member(space, bob))
        rows = await session.fetch("list_events", state=None, before=None, limit=100)
        events = {
            row["type"]: Event(**{name: row[name] for name in row.keys() & Event.__dataclass_fields__.keys()})
            for row in rows
        }
        said = {
            name: (await RESOLVERS[name](session, [events[name]]))[events[name].id]
            for name in ("thread.opened", "thread.assigned", "message.addressed")
        }
        assert (await session.run(forget_person(bob))).key == bob
    assert set(change.people) == {ada, bob}
    assert (said["thread.opened"].space, said["thread.opened"].actor) == (space, ada)
    assert set(said["thread.assigned"].assigned) == {ada, bob}
    assert said["message.addressed"].addressed == (bob,)
