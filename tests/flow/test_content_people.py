"""People, organisations and teams."""

import asyncio
from typing import Any

import pytest
from psycopg.sql import SQL, Identifier

from clarion.content.members import add_space_member
from clarion.content.organisations import add_organisation, add_team, delete_team
from clarion.content.people import add_person, change_person, deactivate_person, forget_person
from clarion.content.posts import add_comment
from clarion.content.roles import assign
from clarion.model.errors import Conflict, Gone, Invalid, NotFound, TooLarge
from clarion.store.database import Database
from support.content_world import ADA, BOB, PRIVATE, PUBLIC, World, make_world, open_issue


@pytest.fixture
async def world(database: Database) -> World:
    return await make_world(database)


async def person(world: World, key: int) -> dict[str, Any]:
    (row,) = await world.rows(
        "SELECT handle, handle_folded, name, address, address_verified_at IS NOT NULL AS verified, locale, zone, active"
        " FROM clarion.person WHERE id = %(key)s",
        key=key,
    )
    return row


async def tables_that_name(world: World, key: int) -> set[str]:
    """The tables with a row that holds this person's key, in whichever column."""
    columns = await world.rows(
        "SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables"
        " USING (table_schema, table_name) WHERE table_schema = 'clarion' AND domain_name = 'person_key'"
        " AND table_type = 'BASE TABLE'"
    )
    found = set()
    async with world.database.session() as session:
        for column in columns:
            query = SQL("SELECT 1 AS one FROM clarion.{} WHERE {} = %s LIMIT 1").format(
                Identifier(column["table_name"]), Identifier(column["column_name"])
            )
            if await (await session.connection.execute(query, [key])).fetchall():
                found.add(column["table_name"])
    return found


async def former(world: World) -> list[tuple[str, int]]:
    rows = await world.rows("SELECT handle_folded, person FROM clarion.former_handle ORDER BY 1, 2")
    return [(row["handle_folded"], row["person"]) for row in rows]


async def find(world: World, handle: str) -> list[int]:
    async with world.database.session() as session:
        return [row["person"] for row in await session.fetch("find_people", handles=[handle])]


async def test_O11_a_person_is_added_changed_or_left_alone(world: World) -> None:
    added = await world.run(add_person(7, handle="Gus", name="Gus"))
    same = await world.run(add_person(7, handle="Gus", name="Gus"))
    other = await world.run(add_person(7, handle="Gus", name="Gustav"))
    assert [(done.created, done.changed) for done in (added, same, other)] == [
        (True, True),
        (False, False),
        (False, True),
    ]
    assert (await person(world, 7))["name"] == "Gustav"
    assert (await person(world, 7))["handle_folded"] == "gus"


async def test_O11_one_person_added_by_many_at_once_is_one(world: World) -> None:
    done = await asyncio.gather(*(world.run(add_person(7, handle="gus")) for _ in range(8)))
    assert sum(each.created for each in done) == 1


async def test_T3_a_handle_is_one_persons_whatever_its_case(world: World) -> None:
    with pytest.raises(Conflict, match="ADA"):
        await world.run(add_person(7, handle="ADA"))
    with pytest.raises(Conflict):
        await world.run(change_person(BOB, handle="Ada"))


async def test_W17_a_handle_given_up_still_names_its_person_for_30_days(world: World) -> None:
    await world.run(change_person(ADA, handle="ada.l"))
    assert await find(world, "ada") == [ADA]
    await world.rows("UPDATE clarion.former_handle SET given_up_at = given_up_at - interval '31 days'")
    assert await find(world, "ada") == []
    await world.run(change_person(ADA, handle="ada"))
    assert await former(world) == [("ada.l", ADA)]


async def test_W17_a_handle_taken_over_stays_known_as_its_former_bearers(world: World) -> None:
    await world.run(add_person(7, handle="ada", takes_handle=True))
    assert await former(world) == [("ada", ADA)]
    assert (await person(world, ADA))["handle_folded"] is None
    await world.run(add_person(ADA, handle="ada1", name="Ada"))
    assert await find(world, "ada1") == [ADA]


async def test_a_new_address_is_unverified_until_the_host_says_otherwise(world: World) -> None:
    await world.run(change_person(ADA, address="ada@example.org", address_verified=True))
    await world.run(change_person(ADA, address="ada@example.org", name="Ada L."))
    assert (await person(world, ADA))["verified"]
    await world.run(change_person(ADA, address="ada@example.net"))
    assert not (await person(world, ADA))["verified"]
    await world.run(change_person(ADA, address=""))
    assert (await person(world, ADA))["address"] is None
    with pytest.raises(Invalid, match="verify"):
        await world.run(add_person(8, handle="hal", address_verified=True))


async def test_W8_a_person_is_made_inactive_under_their_lock(world: World) -> None:
    async with world.database.session() as session:
        await session.fetch("ensure_inboxes", people=[BOB])
    async with world.database.session() as session:
        await session.fetch("lock_people", people=[BOB])
        change = asyncio.create_task(world.run(deactivate_person(BOB)))
        await world.someone_waits()
        assert (await person(world, BOB))["active"]
    await change
    assert not (await person(world, BOB))["active"]


async def test_K5_forgetting_a_person_leaves_a_placeholder_and_nothing_else(world: World) -> None:
    await open_issue(world, author=BOB)
    await world.run(add_comment("comment:1", thread="issue:1", body="Mine", author=BOB))
    await world.run(assign("issue:1", [BOB]))
    await world.run(change_person(BOB, handle="bobby", address="bob@example.org"))
    await world.tell(BOB, "issue:1", PUBLIC)
    for statement in (
        (
            "INSERT INTO clarion.hit (post, person, kind, thread, position)"
            " SELECT id, 2, 'mentioned', thread, 1 FROM clarion.post"
        ),
        (
            "INSERT INTO clarion.thread_person (thread, person, subscribed, why)"
            " SELECT id, 2, true, 'author' FROM clarion.thread"
        ),
        "INSERT INTO clarion.watch VALUES (10, 2, 'all')",
        "INSERT INTO clarion.block VALUES (2, 1), (1, 2)",
        "INSERT INTO clarion.mute VALUES (2, 1), (1, 2)",
        "INSERT INTO clarion.choice VALUES (2, true, true)",
        "INSERT INTO clarion.credential (digest, kind, person) VALUES (sha256('x'), 'person', 2)",
    ):
        await world.rows(statement)
    assert (await world.run(forget_person(BOB))).changed
    assert not (await world.run(forget_person(BOB))).changed
    assert await tables_that_name(world, BOB) <= {"person", "content_thread", "content_post", "outbox_event"}
    placeholder = await person(world, BOB)
    assert placeholder == {
        "handle": "ghost", "handle_folded": None, "name": "", "address": None, "verified": False, "locale": "en",
        "zone": "UTC", "active": False,
    }  # fmt: skip
    assert await world.rows("SELECT author, body FROM clarion.content_post WHERE kind = 'comment'") == [
        {"author": BOB, "body": "Mine"}
    ]


async def test_O11_a_forgotten_person_stays_forgotten(world: World) -> None:
    await world.run(forget_person(BOB))
    for command in (add_person(BOB, handle="bob"), change_person(BOB, name="Bob")):
        with pytest.raises(Gone, match="2"):
            await world.run(command)
    with pytest.raises(NotFound, match="2"):
        await world.run(add_space_member(PRIVATE, BOB))
    with pytest.raises(NotFound, match="77"):
        await world.run(forget_person(77))
    assert await find(world, "bob") == []


@pytest.mark.parametrize(
    ("changes", "error", "names"),
    [
        ({"handle": "-gus"}, Invalid, "no handle"),
        ({"handle": ""}, Invalid, "no handle"),
        ({"handle": "x" * 101}, Invalid, "100"),
        ({"name": "x" * 201}, TooLarge, "200"),
        ({"name": "a\0b"}, Invalid, "NUL"),
        ({"address": "ada at example"}, Invalid, "no mail address"),
        ({"address": "a@b\r\nBcc: c@d"}, Invalid, "no mail address"),
        ({"locale": "en US"}, Invalid, "no locale"),
        ({"zone": "Mars/Olympus"}, Invalid, "no time zone"),
        ({"zone": "../etc/passwd"}, Invalid, "no time zone"),
        ({"zone": "America"}, Invalid, "no time zone"),
    ],
)
async def test_K2_what_is_malformed_is_refused_by_name(
    world: World, changes: dict[str, str], error: type[Exception], names: str
) -> None:
    facts: dict[str, Any] = {"handle": "gus", **changes}
    with pytest.raises(error, match=names):
        await world.run(add_person(7, **facts))
    with pytest.raises(error, match=names):
        await world.run(change_person(ADA, **facts))


async def test_an_unknown_person_is_not_changed(world: World) -> None:
    with pytest.raises(NotFound, match="77"):
        await world.run(change_person(77, name="Nobody"))


async def test_W17_organisations_and_teams_are_renamed_in_place(world: World) -> None:
    before = await world.run(add_organisation("acme", handle="acme", name="Acme"))
    after = await world.run(add_organisation("acme", handle="Acme-Corp", name="Acme"))
    assert (before.changed, after.changed, after.id) == (False, True, before.id)
    await world.run(add_team("core", organisation="acme", handle="kernel"))
    assert await world.rows(
        "SELECT o.handle_folded AS o, t.handle_folded AS t FROM clarion.team t, clarion.organisation o"
    ) == [{"o": "acme-corp", "t": "kernel"}]


async def test_handles_of_organisations_and_teams_are_their_own(world: World) -> None:
    with pytest.raises(Conflict, match="organisation"):
        await world.run(add_organisation("other", handle="ACME"))
    with pytest.raises(Conflict, match="team"):
        await world.run(add_team("more", organisation="acme", handle="Core"))
    await world.run(add_organisation("other", handle="other"))
    await world.run(add_team("other-core", organisation="other", handle="core"))
    with pytest.raises(Conflict, match="another organisation"):
        await world.run(add_team("core", organisation="other", handle="kernel"))
    with pytest.raises(NotFound, match="nowhere"):
        await world.run(add_team("x", organisation="nowhere", handle="x"))


async def test_O11_a_deleted_team_stays_gone_and_frees_its_handle(world: World) -> None:
    await world.run(delete_team("core"))
    assert not (await world.run(delete_team("core"))).changed
    with pytest.raises(Gone, match="core"):
        await world.run(add_team("core", organisation="acme", handle="core"))
    await world.run(add_team("core2", organisation="acme", handle="core"))
    assert await world.rows("SELECT 1 AS one FROM clarion.team_member") == []
    with pytest.raises(NotFound, match="nobody"):
        await world.run(delete_team("nobody"))
