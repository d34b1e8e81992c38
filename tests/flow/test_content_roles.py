"""Assignments and requests for review: what a command writes, and what it publishes."""

import asyncio

import pytest

from clarion.content.members import add_team_member
from clarion.content.organisations import add_team
from clarion.content.people import add_person
from clarion.content.roles import assign, remove_review_request, request_review, unassign
from clarion.content.threads import delete_thread
from clarion.model.errors import Gone, NotFound, TooLarge
from clarion.store.database import Database
from support.content_world import ADA, BOB, CYN, World, make_world, open_issue


@pytest.fixture
async def world(database: Database) -> World:
    world = await make_world(database)
    await open_issue(world, "pr:1", kind="pull_request")
    await world.rows("DELETE FROM clarion.outbox_event")
    return world


async def test_W1_an_assignment_names_those_who_were_not_assigned(world: World) -> None:
    await world.run(assign("pr:1", [BOB], actor=ADA))
    change = await world.run(assign("pr:1", [BOB, CYN, CYN], actor=ADA))
    assert change.people == (CYN,)
    assert (await world.run(assign("pr:1", [BOB, CYN]))).events == ()
    events = await world.events("thread.assigned")
    assert [event.keys for event in events] == [{"people": ["2"]}, {"people": ["3"]}]
    assert [(event.thread_key, event.post_key, event.actor) for event in events] == [("pr:1", None, ADA)] * 2


async def test_an_assignment_is_taken_back_once(world: World) -> None:
    await world.run(assign("pr:1", [BOB]))
    assert (await world.run(unassign("pr:1", [BOB, CYN]))).people == (BOB,)
    assert (await world.run(unassign("pr:1", [BOB]))).people == ()
    (event,) = await world.events("thread.unassigned")
    assert event.keys == {"people": ["2"]}


async def test_O11_one_assignment_made_by_many_at_once_is_one_event(world: World) -> None:
    await asyncio.gather(*(world.run(assign("pr:1", [BOB])) for _ in range(8)))
    assert await world.types() == ["thread.assigned"]


async def test_a_team_asked_for_review_is_its_members_but_the_author(world: World) -> None:
    for person in (ADA, CYN):
        await world.run(add_team_member("core", person))
    change = await world.run(request_review("pr:1", teams=["core"], actor=ADA))
    assert change.people == (BOB, CYN)
    (event,) = await world.events()
    assert (event.type, event.keys) == ("thread.review_requested", {"people": ["2", "3"]})


async def test_a_teams_request_taken_back_leaves_a_persons_own(world: World) -> None:
    await world.run(add_team_member("core", CYN))
    await world.run(request_review("pr:1", [BOB], teams=["core"]))
    assert (await world.run(remove_review_request("pr:1", teams=["core"]))).people == (CYN,)
    assert (await world.run(remove_review_request("pr:1", [BOB]))).people == (BOB,)
    assert await world.rows("SELECT 1 AS one FROM clarion.thread_role") == []


async def test_who_is_asked_through_two_teams_is_asked_until_both_are_taken_back(world: World) -> None:
    await world.run(add_team("docs", organisation="acme", handle="docs"))
    await world.run(add_team_member("docs", BOB))
    assert (await world.run(request_review("pr:1", teams=["core", "docs"]))).people == (BOB,)
    assert (await world.run(remove_review_request("pr:1", teams=["core"]))).people == ()
    assert (await world.run(remove_review_request("pr:1", teams=["docs"]))).people == (BOB,)


async def test_O2_many_people_are_told_of_in_events_of_a_bounded_size(world: World) -> None:
    people = list(range(1000, 1120))
    for person in people:
        await world.run(add_person(person, handle=f"p{person}"))
    change = await world.run(assign("pr:1", people))
    assert change.people == tuple(people)
    assert [len(event.keys["people"]) for event in await world.events()] == [50, 50, 20]


async def test_K2_what_is_unknown_gone_or_too_much_is_refused_by_name(world: World) -> None:
    with pytest.raises(NotFound, match="77"):
        await world.run(assign("pr:1", [BOB, 77]))
    with pytest.raises(NotFound, match="nobody"):
        await world.run(request_review("pr:1", teams=["nobody"]))
    with pytest.raises(NotFound, match="pr:9"):
        await world.run(assign("pr:9", [BOB]))
    with pytest.raises(TooLarge, match="1000"):
        await world.run(assign("pr:1", range(1001)))
    await world.run(delete_thread("pr:1"))
    with pytest.raises(Gone):
        await world.run(unassign("pr:1", [BOB]))
