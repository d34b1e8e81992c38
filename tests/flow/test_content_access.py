"""Spaces and members: what a change of access does to inboxes (W15)."""

import asyncio
from collections.abc import Callable

import pytest

from clarion.content.members import (
    add_organisation_member,
    add_space_member,
    add_team_member,
    remove_organisation_member,
    remove_space_member,
    remove_team_member,
)
from clarion.content.organisations import add_organisation, delete_team
from clarion.content.spaces import (
    add_space,
    add_space_team,
    delete_space,
    move_space,
    remove_space_team,
    rename_space,
    set_visibility,
)
from clarion.content.threads import open_thread
from clarion.model.errors import Gone, Invalid, NotFound, TooLarge
from clarion.store.database import Command, Database
from support.content_world import (
    ADA,
    BOB,
    CYN,
    MEMBERS,
    PRIVATE,
    PUBLIC,
    TEAM,
    World,
    make_world,
    open_issue,
)


@pytest.fixture
async def world(database: Database) -> World:
    world = await make_world(database)
    for space in (PUBLIC, PRIVATE, MEMBERS, TEAM):
        await world.tell(BOB, f"issue:{space}", space)
    return world


ALL = ["issue:10", "issue:20", "issue:30", "issue:40"]


@pytest.mark.parametrize(
    ("remove", "add", "left"),
    [
        (
            lambda: remove_space_member(PRIVATE, BOB),
            lambda: add_space_member(PRIVATE, BOB),
            ["issue:10", "issue:30", "issue:40"],
        ),
        (
            lambda: remove_team_member("core", BOB),
            lambda: add_team_member("core", BOB),
            ["issue:10", "issue:20", "issue:30"],
        ),
    ],
)
async def test_W15_who_is_removed_loses_the_rows_and_gets_them_back_as_read(
    world: World, remove: Callable[[], Command[bool]], add: Callable[[], Command[bool]], left: list[str]
) -> None:
    assert await world.shown(BOB) == ALL
    assert await world.run(remove())
    assert await world.shown(BOB) == left
    assert await world.unread(BOB) == 3
    assert await world.run(add())
    assert await world.shown(BOB) == ALL
    assert await world.unread(BOB) == 3
    assert await world.events() == []


async def test_W15_who_leaves_an_organisation_leaves_its_teams_and_what_they_read(world: World) -> None:
    assert await world.run(remove_organisation_member("acme", BOB))
    assert await world.shown(BOB) == ["issue:10", "issue:20"]
    assert await world.unread(BOB) == 2
    assert await world.run(add_organisation_member("acme", BOB))
    assert await world.shown(BOB) == ["issue:10", "issue:20", "issue:30"]
    assert not await world.run(remove_team_member("core", BOB))


async def test_W15_access_that_another_way_still_gives_stays(world: World) -> None:
    await world.run(add_space_member(TEAM, BOB))
    await world.run(remove_team_member("core", BOB))
    assert await world.shown(BOB) == ALL
    assert await world.unread(BOB) == 4


async def test_O11_a_membership_changed_twice_changes_once(world: World) -> None:
    assert await world.run(add_space_member(PRIVATE, CYN, role="write"))
    assert not await world.run(add_space_member(PRIVATE, CYN, role="write"))
    assert await world.run(add_space_member(PRIVATE, CYN, role="read"))
    assert await world.run(remove_space_member(PRIVATE, CYN))
    assert not await world.run(remove_space_member(PRIVATE, CYN))
    assert not await world.run(add_organisation_member("acme", BOB))


@pytest.mark.parametrize("remove", [remove_space_member, add_space_member])
async def test_W15_a_membership_waits_for_who_holds_the_person(
    world: World, remove: Callable[[int, int], Command[bool]]
) -> None:
    async with world.database.session() as session:
        await session.fetch("lock_people", people=[BOB])
        change = asyncio.create_task(world.run(remove(PRIVATE, BOB)))
        await world.someone_waits()
    await change


async def test_W15_a_space_made_private_says_so_by_one_event(world: World) -> None:
    await world.run(set_visibility(PUBLIC, "private", actor=ADA))
    assert not (await world.run(set_visibility(PUBLIC, "private"))).changed
    (event,) = await world.events()
    assert (event.type, event.space, event.keys, event.actor) == ("access.changed", PUBLIC, {}, ADA)


async def test_W15_a_space_changes_only_when_no_fan_out_shares_it(world: World) -> None:
    async with world.database.session() as session:
        await session.fetch("share_spaces", spaces=[PUBLIC])
        change = asyncio.create_task(world.run(set_visibility(PUBLIC, "private")))
        await world.someone_waits()
        assert await world.rows("SELECT visibility FROM clarion.content_space WHERE id = 10") == [
            {"visibility": "public"}
        ]
    assert (await change).changed


async def test_W15_every_change_for_many_publishes_access_changed(world: World) -> None:
    await world.run(add_organisation("other", handle="other"))
    for command in (
        add_space_team(PRIVATE, "core"),
        add_space_team(PRIVATE, "core"),
        remove_space_team(PRIVATE, "core"),
        remove_space_team(PRIVATE, "core"),
        move_space(MEMBERS, "other"),
        add_space(PUBLIC, name="acme/docs", visibility="members", organisation="acme"),
        delete_team("core"),
    ):
        await world.run(command)
    assert {event.type for event in await world.events()} == {"access.changed"}
    assert [event.space for event in await world.events()] == [PRIVATE, PRIVATE, MEMBERS, PUBLIC, TEAM]


async def test_W17_a_renamed_space_publishes_nothing(world: World) -> None:
    assert (await world.run(rename_space(PUBLIC, "acme/handbook"))).changed
    assert not (await world.run(rename_space(PUBLIC, "acme/handbook"))).changed
    assert await world.events() == []


async def test_a_rename_at_the_same_time_does_not_open_what_was_closed(world: World) -> None:
    async with world.database.session() as session:
        await session.run(set_visibility(PUBLIC, "private"))
        rename = asyncio.create_task(world.run(rename_space(PUBLIC, "acme/handbook")))
        await world.someone_waits()
    await rename
    rows = await world.rows("SELECT name, visibility FROM clarion.content_space WHERE id = 10")
    assert rows == [{"name": "acme/handbook", "visibility": "private"}]


async def test_O11_a_deleted_space_takes_its_threads_along_and_stays_gone(world: World) -> None:
    await open_issue(world)
    await open_issue(world, "issue:2")
    await world.run(delete_space(PUBLIC, actor=ADA))
    assert not (await world.run(delete_space(PUBLIC))).changed
    assert [e.thread_key for e in await world.events("thread.deleted")] == ["issue:1", "issue:2"]
    assert [e.space for e in await world.events("access.changed")] == [PUBLIC]
    assert await world.rows("SELECT 1 AS one FROM clarion.readers WHERE space = 10") == []
    assert await world.rows("SELECT 1 AS one FROM clarion.content_post WHERE body <> ''") == []
    for command in (
        add_space(PUBLIC, name="back", visibility="public"),
        open_thread("issue:3", space=PUBLIC, kind="issue", title="Hello?"),
        add_space_member(PUBLIC, BOB),
    ):
        with pytest.raises(Gone, match="10"):
            await world.run(command)


@pytest.mark.parametrize(
    ("command", "error", "names"),
    [
        (lambda: add_space(50, name="", visibility="public"), Invalid, "blank"),
        (lambda: add_space(50, name="x" * 201, visibility="public"), TooLarge, "200"),
        (lambda: add_space(50, name="x", visibility="secret"), Invalid, "members"),
        (lambda: add_space(50, name="x", visibility="members"), Invalid, "organisation"),
        (lambda: set_visibility(PRIVATE, "members"), Invalid, "organisation"),
        (lambda: add_space(50, name="x", visibility="public", organisation="nowhere"), NotFound, "nowhere"),
        (lambda: rename_space(50, "x"), NotFound, "50"),
        (lambda: add_space_member(50, BOB), NotFound, "50"),
        (lambda: add_space_member(PRIVATE, 77), NotFound, "77"),
        (lambda: add_space_member(PRIVATE, BOB, role=""), Invalid, "role"),
        (lambda: add_team_member("nobody", BOB), NotFound, "nobody"),
        (lambda: remove_organisation_member("nowhere", BOB), NotFound, "nowhere"),
        (lambda: add_space_team(PRIVATE, "nobody"), NotFound, "nobody"),
    ],
)
async def test_K2_what_is_malformed_or_unknown_is_refused_by_name(
    world: World, command: Callable[[], Command[object]], error: type[Exception], names: str
) -> None:
    with pytest.raises(error, match=names):
        await world.run(command())
    assert await world.events() == []
