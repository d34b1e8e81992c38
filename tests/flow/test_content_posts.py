"""Comments and reviews: what a command writes, and what it publishes."""

import asyncio
from collections.abc import Callable

import pytest

from clarion.content.posts import (
    ReviewComment,
    add_comment,
    delete_post,
    dismiss_review,
    edit_post,
    submit_review,
)
from clarion.content.threads import opening_key
from clarion.model.errors import Conflict, Gone, Invalid, NotFound, TooLarge
from clarion.outbox.publish import notify
from clarion.store.database import Command, Database
from support.content_world import ADA, BOB, CYN, World, make_world, open_issue


@pytest.fixture
async def world(database: Database) -> World:
    world = await make_world(database)
    await open_issue(world, "pr:1", kind="pull_request")
    await world.rows("DELETE FROM clarion.outbox_event")
    return world


def comment(body: str = "Me too", key: str = "comment:1") -> Command[object]:
    return add_comment(key, thread="pr:1", body=body, author=BOB)


def review(body: str = "Nice", verdict: str = "approved", comments: tuple[str, ...] = ("a", "b")) -> Command[object]:
    parts = [ReviewComment(key=f"part:{name}", body=name) for name in comments]
    return submit_review("review:1", thread="pr:1", verdict=verdict, body=body, author=CYN, comments=parts)


async def test_O1_a_comment_is_a_row_and_an_event_by_key(world: World) -> None:
    await world.run(comment())
    (event,) = await world.events()
    assert (event.type, event.actor, event.keys) == ("comment.created", BOB, {})
    assert (event.thread_key, event.post_key) == ("pr:1", "comment:1")


async def test_O11_a_comment_with_the_same_key_is_nothing_or_an_edit(world: World) -> None:
    for body in ("Me too", "Me too", "Me three"):
        await world.run(comment(body))
    await world.run(add_comment("comment:1", thread="pr:1", body="Me too", author=BOB, edit=False))
    assert await world.types() == ["comment.created", "comment.edited"]
    rows = await world.rows("SELECT body FROM clarion.content_post WHERE kind = 'comment'")
    assert rows == [{"body": "Me three"}]


async def test_O11_one_key_written_by_many_at_once_is_one_comment(world: World) -> None:
    await asyncio.gather(*(world.run(comment()) for _ in range(8)))
    assert await world.types() == ["comment.created"]


async def test_O11_a_key_of_another_thread_or_kind_is_a_conflict(world: World) -> None:
    await world.run(comment())
    await open_issue(world, "issue:2")
    with pytest.raises(Conflict, match="pr:1"):
        await world.run(add_comment("comment:1", thread="issue:2", body="Elsewhere"))
    with pytest.raises(Conflict, match="comment"):
        await world.run(submit_review("comment:1", thread="pr:1"))


async def test_editing_a_comment_publishes_when_it_changes(world: World) -> None:
    await world.run(comment())
    for _ in range(2):
        await world.run(edit_post("comment:1", body="Not me", actor=ADA))
    (event,) = await world.events("comment.edited")
    assert (event.post_key, event.actor) == ("comment:1", ADA)


async def test_editing_an_opening_post_edits_its_thread(world: World) -> None:
    await world.run(edit_post(opening_key("pr:1"), body="Better", actor=ADA))
    (event,) = await world.events()
    assert (event.type, event.post_key) == ("thread.edited", "pr:1:opening")


async def test_O11_a_deleted_comment_leaves_its_key_and_no_text(world: World) -> None:
    await world.run(comment())
    await world.run(delete_post("comment:1", actor=ADA))
    assert (await world.run(delete_post("comment:1"))).event is None
    for again in (comment(), edit_post("comment:1", body="Back")):
        with pytest.raises(Gone, match="comment:1"):
            await world.run(again)
    (event,) = await world.events("comment.deleted")
    assert (event.thread_key, event.post_key) == ("pr:1", "comment:1")
    rows = await world.rows("SELECT body FROM clarion.content_post WHERE deleted_at IS NOT NULL")
    assert rows == [{"body": ""}]


async def test_the_opening_post_goes_only_with_its_thread(world: World) -> None:
    with pytest.raises(Invalid, match="delete the thread"):
        await world.run(delete_post(opening_key("pr:1")))


async def test_W13_a_review_with_its_comments_is_one_event(world: World) -> None:
    await world.run(review())
    (event,) = await world.events()
    assert (event.type, event.post_key, event.actor) == ("review.submitted", "review:1", CYN)


async def test_O11_a_review_played_again_is_nothing_and_grows_by_new_comments(world: World) -> None:
    await world.run(review())
    await world.run(review())
    await world.run(review(comments=("a", "b", "c")))
    await world.run(review(body="Very nice"))
    assert await world.types() == ["review.submitted", "comment.created", "comment.edited"]


async def test_a_review_comment_may_come_by_itself(world: World) -> None:
    await world.run(review(comments=()))
    await world.run(add_comment("part:a", thread="pr:1", body="Why?", author=CYN, review="review:1"))
    await world.run(add_comment("part:b", thread="pr:1", body="Hm", author=CYN, on_code=True))
    rows = await world.rows(
        "SELECT key, part_of IS NOT NULL AS part FROM clarion.content_post WHERE kind = 'review_comment' ORDER BY key"
    )
    assert rows == [{"key": "part:a", "part": True}, {"key": "part:b", "part": False}]
    with pytest.raises(NotFound, match="review:9"):
        await world.run(add_comment("part:c", thread="pr:1", body="?", review="review:9"))


async def test_W14_a_dismissed_review_is_housekeeping_once(world: World) -> None:
    await world.run(review())
    for _ in range(2):
        await world.run(dismiss_review("review:1", actor=ADA))
    (event,) = await world.events("thread.changed")
    assert event.keys == {"change": "review_dismissed", "post": "review:1"}
    await world.run(comment())
    with pytest.raises(Invalid, match="no review"):
        await world.run(dismiss_review("comment:1"))


async def test_deleting_a_review_deletes_its_comments_each_with_its_event(world: World) -> None:
    await world.run(review())
    await world.run(delete_post("review:1", actor=CYN))
    assert [e.post_key for e in await world.events("comment.deleted")] == ["review:1", "part:a", "part:b"]
    with pytest.raises(Gone):
        await world.run(add_comment("part:c", thread="pr:1", body="?", review="review:1"))


async def test_a_message_is_not_edited_as_a_comment(world: World) -> None:
    await world.run(notify([BOB], title="Hello", body="You", idempotency_key="m1"))
    for command in (edit_post("notify:m1", body="All"), delete_post("notify:m1")):
        with pytest.raises(Invalid, match="message"):
            await world.run(command)


@pytest.mark.parametrize(
    ("command", "error", "names"),
    [
        (lambda: add_comment("c", thread="pr:9", body="x"), NotFound, "pr:9"),
        (lambda: add_comment("c", thread="pr:1", body="x", author=77), NotFound, "77"),
        (lambda: add_comment("c", thread="pr:1", body="x" * 65537), TooLarge, "65536"),
        (lambda: add_comment("", thread="pr:1", body="x"), Invalid, "key of the post"),
        (lambda: submit_review("r", thread="pr:1", verdict="loved"), Invalid, "approved"),
        (lambda: edit_post("c", body="x"), NotFound, "post: c"),
        (lambda: delete_post("c"), NotFound, "post: c"),
    ],
)
async def test_K2_what_is_malformed_or_unknown_is_refused_by_name(
    world: World, command: Callable[[], Command[object]], error: type[Exception], names: str
) -> None:
    with pytest.raises(error, match=names):
        await world.run(command())
    assert await world.events() == []
