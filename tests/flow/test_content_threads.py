"""Threads: what a command writes, and what it publishes."""

import asyncio
from datetime import datetime

import pytest

from clarion.content.housekeeping import record_change
from clarion.content.posts import add_comment
from clarion.content.threads import (
    close_thread,
    delete_thread,
    edit_thread,
    merge_thread,
    move_thread,
    open_thread,
    reopen_thread,
)
from clarion.model.errors import Conflict, Gone, Invalid, NotFound, TooLarge
from clarion.store.database import Database
from support.content_world import ADA, BOB, PRIVATE, PUBLIC, World, make_world, open_issue


@pytest.fixture
async def world(database: Database) -> World:
    return await make_world(database)


async def test_O1_opening_a_thread_writes_it_with_its_post_and_event(world: World) -> None:
    written = await world.run(
        open_thread("issue:1", space=PUBLIC, kind="issue", title="It fails", body="Hi @bob", author=ADA)
    )
    assert (written.key, written.created) == ("issue:1", True)
    (event,) = await world.events()
    assert event.id == written.event
    assert (event.type, event.actor, event.space) == ("thread.opened", ADA, PUBLIC)
    assert (event.thread_key, event.post_key) == ("issue:1", "issue:1:opening")


async def test_O2_no_event_carries_any_text(world: World) -> None:
    await open_issue(world, title="secret", body="secret")
    await world.run(edit_thread("issue:1", title="secret too", actor=ADA))
    assert all(event.keys == {} for event in await world.events())


async def test_O1_a_rolled_back_command_leaves_neither_row_nor_event(world: World) -> None:
    async def fail() -> None:
        async with world.database.session() as session:
            await session.run(open_thread("issue:1", space=PUBLIC, kind="issue", title="No", author=ADA))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await world.events() == []
    assert await world.rows("SELECT 1 AS one FROM clarion.content_thread") == []


async def test_O11_the_same_key_with_the_same_content_does_nothing(world: World) -> None:
    await open_issue(world)
    written = await world.run(
        open_thread("issue:1", space=PUBLIC, kind="issue", title="It fails", body="Hi", author=ADA)
    )
    assert (written.event, written.created, written.changed) == (None, False, False)
    assert await world.types() == ["thread.opened"]


async def test_O11_the_same_key_with_other_content_is_an_edit(world: World) -> None:
    await open_issue(world)
    await open_issue(world, body="Hi again")
    assert await world.types() == ["thread.opened", "thread.edited"]
    rows = await world.rows("SELECT body, edited_at IS NOT NULL AS edited FROM clarion.content_post")
    assert rows == [{"body": "Hi again", "edited": True}]


async def test_O11_an_old_message_can_be_played_again_without_undoing_an_edit(world: World) -> None:
    await open_issue(world)
    await world.run(edit_thread("issue:1", body="Better"))
    await open_issue(world, edit=False)
    assert await world.rows("SELECT body FROM clarion.content_post") == [{"body": "Better"}]
    assert await world.types() == ["thread.opened", "thread.edited"]


async def test_W9_what_was_there_before_is_recorded_and_told_to_nobody(world: World) -> None:
    await open_issue(world, tell=False, state="closed")
    assert await world.types() == ["post.recorded"]
    assert await world.rows("SELECT state FROM clarion.content_thread") == [{"state": "closed"}]


async def test_O11_two_that_open_one_thread_at_once_make_one_thread_and_one_event(world: World) -> None:
    await asyncio.gather(*(open_issue(world) for _ in range(8)))
    assert await world.types() == ["thread.opened"]
    assert len(await world.rows("SELECT 1 AS one FROM clarion.content_post")) == 1


async def test_an_edit_changes_what_is_given_and_publishes_once(world: World) -> None:
    await open_issue(world, link="https://example.org/1")
    written = await world.run(edit_thread("issue:1", title="It works", actor=BOB))
    again = await world.run(edit_thread("issue:1", title="It works", actor=BOB))
    assert (written.changed, again.changed, again.event) == (True, False, None)
    rows = await world.rows(
        "SELECT title, t.link, body FROM clarion.content_thread t JOIN clarion.content_post p ON true"
    )
    assert rows == [{"title": "It works", "link": "https://example.org/1", "body": "Hi"}]
    assert (await world.events("thread.edited"))[0].actor == BOB


async def test_closing_and_reopening_each_publish_once(world: World) -> None:
    await open_issue(world)
    for command in (close_thread, close_thread, reopen_thread, reopen_thread):
        await world.run(command("issue:1", actor=BOB))
    assert await world.types() == ["thread.opened", "thread.closed", "thread.reopened"]


async def test_a_pull_request_is_merged_once_and_stays_so(world: World) -> None:
    await open_issue(world, "pr:1", kind="pull_request")
    for command in (close_thread, merge_thread, merge_thread, close_thread):
        await world.run(command("pr:1"))
    assert await world.types() == ["thread.opened", "thread.closed", "thread.merged"]
    with pytest.raises(Invalid, match="merged"):
        await world.run(reopen_thread("pr:1"))


async def test_an_issue_cannot_be_merged(world: World) -> None:
    await open_issue(world)
    with pytest.raises(Invalid, match="no pull request"):
        await world.run(merge_thread("issue:1"))


async def test_O11_a_deleted_thread_loses_its_texts_and_its_key_stays_gone(world: World) -> None:
    await open_issue(world)
    await world.run(add_comment("comment:1", thread="issue:1", body="Me too", author=BOB))
    await world.run(delete_thread("issue:1", actor=ADA))
    assert (await world.run(delete_thread("issue:1"))).event is None
    with pytest.raises(Gone, match="issue:1"):
        await open_issue(world)
    with pytest.raises(Gone):
        await world.run(add_comment("comment:2", thread="issue:1", body="Hello?"))
    (event,) = await world.events("thread.deleted")
    assert (event.thread_key, event.post_key, event.actor) == ("issue:1", None, ADA)
    rows = await world.rows("SELECT DISTINCT title || body AS text FROM clarion.content_thread, clarion.content_post")
    assert rows == [{"text": ""}]


async def test_a_deletion_waits_for_a_comment_under_way(world: World) -> None:
    await open_issue(world)
    async with world.database.session() as session:
        await session.run(add_comment("comment:1", thread="issue:1", body="Wait", author=BOB))
        deletion = asyncio.create_task(world.run(delete_thread("issue:1")))
        await world.someone_waits()
    await deletion
    assert await world.rows("SELECT 1 AS one FROM clarion.content_post WHERE body <> '' OR deleted_at IS NULL") == []


async def test_comments_and_a_close_do_not_wait_for_each_other(world: World) -> None:
    await open_issue(world)
    async with world.database.session() as session:
        await session.run(add_comment("comment:1", thread="issue:1", body="Bye", author=BOB))
        async with asyncio.timeout(5):
            await world.run(close_thread("issue:1"))
            await world.run(add_comment("comment:2", thread="issue:1", body="Why?", author=ADA))


async def test_W15_a_move_changes_the_space_and_says_so_once(world: World) -> None:
    await open_issue(world)
    await world.run(move_thread("issue:1", to=PRIVATE, actor=ADA))
    assert not (await world.run(move_thread("issue:1", to=PRIVATE, actor=ADA))).changed
    (event,) = await world.events("thread.moved")
    assert (event.thread_key, event.space) == ("issue:1", PRIVATE)


async def test_W17_a_moved_thread_goes_by_both_its_keys(world: World) -> None:
    await open_issue(world)
    await world.run(move_thread("issue:1", to=PRIVATE, key="diary:7", link="https://example.org/7"))
    await world.run(add_comment("comment:1", thread="diary:7", body="Here now", author=BOB))
    await open_issue(world, "diary:7", edit=False)
    (event,) = await world.events("comment.created")
    assert event.thread_key == "issue:1"
    assert await world.types() == ["thread.opened", "thread.moved", "comment.created"]
    await open_issue(world, "issue:2")
    with pytest.raises(Conflict):
        await world.run(move_thread("issue:1", to=PRIVATE, key="issue:2"))


async def test_W14_housekeeping_is_an_event_and_no_row(world: World) -> None:
    await open_issue(world)
    for _ in range(2):
        await world.run(record_change("issue:1", "labeled", actor=BOB, idempotency_key="delivery:1"))
    (event,) = await world.events("thread.changed")
    assert (event.keys, event.post_key) == ({"change": "labeled"}, None)
    with pytest.raises(Invalid):
        await world.run(record_change("issue:1", "Label it"))


@pytest.mark.parametrize(
    ("changes", "error", "names"),
    [
        ({"title": " "}, Invalid, "title"),
        ({"title": "x" * 1001}, TooLarge, "title"),
        ({"title": "a\0b"}, Invalid, "NUL"),
        ({"body": "é" * 32769}, TooLarge, "65536"),
        ({"body": "a\0b"}, Invalid, "NUL"),
        ({"body": "\ud800"}, Invalid, "surrogate"),
        ({"kind": "message"}, Invalid, "forum_thread"),
        ({"state": "merged"}, Invalid, "pull request"),
        ({"link": "not a link"}, Invalid, "white space"),
        ({"key": "x" * 191}, TooLarge, "190"),
        ({"key": ""}, Invalid, "key of the thread"),
        ({"at": datetime(2026, 1, 1)}, Invalid, "time zone"),  # noqa: DTZ001
        ({"space": 99}, NotFound, "space: 99"),
        ({"author": 77}, NotFound, "person: 77"),
    ],
)
async def test_K2_what_is_malformed_or_unknown_is_refused_by_name(
    world: World, changes: dict[str, object], error: type[Exception], names: str
) -> None:
    with pytest.raises(error, match=names):
        await open_issue(world, **changes)  # type: ignore[arg-type]
    assert await world.events() == []


async def test_K2_a_text_of_exactly_the_limit_is_taken(world: World) -> None:
    await open_issue(world, body="é" * 32768)
    assert await world.types() == ["thread.opened"]


async def test_an_unknown_thread_or_actor_is_named(world: World) -> None:
    with pytest.raises(NotFound, match="issue:9"):
        await world.run(close_thread("issue:9"))
    await open_issue(world)
    with pytest.raises(NotFound, match="77"):
        await world.run(close_thread("issue:1", actor=77))
