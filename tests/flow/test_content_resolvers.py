"""Resolvers: what our own events mean, from the rows as they are when the events are handled."""

from typing import Any

import pytest

from clarion.content.housekeeping import record_change
from clarion.content.posts import ReviewComment, add_comment, delete_post, edit_post, submit_review
from clarion.content.resolvers import RESOLVERS
from clarion.content.roles import assign, remove_review_request, request_review, unassign
from clarion.content.threads import (
    close_thread,
    delete_thread,
    edit_thread,
    merge_thread,
    move_thread,
    reopen_thread,
)
from clarion.model.event import OWN_TYPES, Effect
from clarion.model.happening import Happening, Part
from clarion.outbox.publish import NewEvent, notify, publish
from clarion.store.database import Database, Row
from support.content_world import ADA, BOB, CYN, PRIVATE, PUBLIC, World, make_world, open_issue


@pytest.fixture
async def world(database: Database) -> World:
    world = await make_world(database)
    await open_issue(world, "pr:1", kind="pull_request", title="Mend it", body="Hi @bob", link="https://example.org/1")
    return world


PLACE: dict[str, Any] = {
    "thread": "pr:1", "space": PUBLIC, "title": "Mend it", "link": "https://example.org/1",
    "thread_kind": "pull_request",
}  # fmt: skip


def test_every_type_of_ours_that_needs_a_resolver_has_one() -> None:
    by_key = {Effect.DELETE, Effect.ACCESS, Effect.WAKE}
    assert set(RESOLVERS) == {name for name, effect in OWN_TYPES.items() if effect not in by_key}


async def test_an_opened_thread_is_its_opening_post(world: World) -> None:
    assert await world.happenings("thread.opened") == [
        Happening(**PLACE, post="pr:1:opening", actor=ADA, text="Hi @bob", kind="opening", subscribes_actor="author")
    ]


async def test_O2_the_text_is_read_when_the_event_is_handled(world: World) -> None:
    await world.run(edit_thread("pr:1", title="Mend it all", body="Hi @cyn", actor=BOB))
    opened, edited = await world.happenings("thread.opened", "thread.edited")
    assert opened is not None
    assert edited is not None
    assert (opened.text, opened.title, opened.actor) == ("Hi @cyn", "Mend it all", ADA)
    assert (edited.text, edited.post, edited.actor, edited.subscribes_actor) == ("Hi @cyn", "pr:1:opening", BOB, None)


async def test_a_comment_subscribes_its_author_and_an_edit_nobody(world: World) -> None:
    await world.run(add_comment("comment:1", thread="pr:1", body="Me too", author=BOB, link="https://example.org/c1"))
    await world.run(edit_post("comment:1", body="Not me", actor=BOB))
    place = {**PLACE, "link": "https://example.org/c1"}
    comment = Happening(**place, post="comment:1", actor=BOB, text="Not me", kind="comment")
    created, edited = await world.happenings("comment.created", "comment.edited")
    assert edited == comment
    assert created == Happening(**place, post="comment:1", actor=BOB, text="Not me", subscribes_actor="commented")


async def test_W13_a_review_has_its_comments_as_parts(world: World) -> None:
    comments = [ReviewComment(key=f"part:{name}", body=f"See {name}") for name in ("b", "a", "c")]
    await world.run(submit_review("review:1", thread="pr:1", body="Nice", author=CYN, comments=comments))
    await world.run(delete_post("part:a"))
    assert await world.happenings("review.submitted") == [
        Happening(
            **PLACE, post="review:1", actor=CYN, text="Nice", kind="review", subscribes_actor="reviewed",
            parts=(Part("part:b", "See b", "review_comment"), Part("part:c", "See c", "review_comment")),
        )
    ]  # fmt: skip


async def test_O2_what_is_deleted_is_left_out(world: World) -> None:
    await world.run(add_comment("comment:1", thread="pr:1", body="Me too", author=BOB))
    await world.run(edit_post("comment:1", body="Not me"))
    await world.run(delete_post("comment:1"))
    assert await world.happenings("comment.created", "comment.edited") == [None, None]
    await world.run(assign("pr:1", [BOB]))
    await world.run(unassign("pr:1", [BOB]))
    await world.run(close_thread("pr:1"))
    await world.run(record_change("pr:1", "labeled"))
    await world.run(move_thread("pr:1", to=PRIVATE))
    await world.run(delete_thread("pr:1"))
    assert set(await world.happenings(*RESOLVERS)) == {None}


async def test_O12_a_state_is_told_while_it_holds(world: World) -> None:
    await world.run(close_thread("pr:1", actor=BOB))
    assert await world.happenings("thread.closed") == [Happening(**PLACE, actor=BOB, kind="closed")]
    await world.run(reopen_thread("pr:1", actor=CYN))
    assert await world.happenings("thread.closed", "thread.reopened") == [
        None, Happening(**PLACE, actor=CYN, kind="reopened"),
    ]  # fmt: skip
    await world.run(merge_thread("pr:1", actor=ADA))
    assert await world.happenings("thread.closed", "thread.reopened", "thread.merged") == [
        None, None, Happening(**PLACE, actor=ADA, kind="merged"),
    ]  # fmt: skip


async def test_O12_an_assignment_is_told_to_those_who_still_hold_it(world: World) -> None:
    await world.run(assign("pr:1", [BOB, CYN], actor=ADA))
    await world.run(unassign("pr:1", [CYN], actor=ADA))
    assert await world.happenings("thread.assigned", "thread.unassigned") == [
        Happening(**PLACE, actor=ADA, kind="assigned", assigned=(BOB,)),
        Happening(**PLACE, actor=ADA, kind="unassigned", assigned=(BOB,)),
    ]
    await world.run(unassign("pr:1", [BOB]))
    assert await world.happenings("thread.assigned") == [None]


async def test_O12_a_request_for_review_is_told_to_those_still_asked(world: World) -> None:
    await world.run(assign("pr:1", [CYN]))
    await world.run(request_review("pr:1", [CYN], teams=["core"], actor=ADA))
    await world.run(remove_review_request("pr:1", [CYN], actor=ADA))
    assert await world.happenings("thread.review_requested", "thread.review_request_removed") == [
        Happening(**PLACE, actor=ADA, kind="review_requested", review_requested=(BOB,)),
        Happening(**PLACE, actor=ADA, kind="review_request_removed", assigned=(CYN,), review_requested=(BOB,)),
    ]


async def test_W14_housekeeping_has_a_kind_and_no_text(world: World) -> None:
    await world.run(record_change("pr:1", "labeled", actor=BOB))
    assert await world.happenings("thread.changed") == [Happening(**PLACE, actor=BOB, kind="housekeeping")]


async def test_W15_a_move_says_where_the_thread_is_now(world: World) -> None:
    await world.run(move_thread("pr:1", to=PRIVATE, actor=ADA))
    await world.run(move_thread("pr:1", to=PUBLIC, actor=ADA))
    await world.run(move_thread("pr:1", to=PRIVATE, actor=ADA))
    said = await world.happenings("thread.moved")
    assert [happening and happening.space for happening in said] == [PRIVATE] * 3


async def test_W8_a_message_is_for_those_addressed_in_no_space(world: World) -> None:
    await world.run(
        notify([CYN, BOB], kind="build", title="Red", link="/7", body="It broke", actor=ADA, idempotency_key="b7")
    )
    assert await world.happenings("message.addressed") == [
        Happening(
            thread="notify:b7", post="notify:b7", actor=ADA, title="Red", text="It broke", link="/7", kind="message",
            thread_kind="build", addressed=(BOB, CYN),
        )
    ]  # fmt: skip


async def test_an_event_that_a_host_publishes_by_thread_alone_is_understood(world: World) -> None:
    await world.rows("DELETE FROM clarion.outbox_event")
    await world.run(assign("pr:1", [BOB]))
    await world.rows("DELETE FROM clarion.outbox_event")
    for event_type in ("thread.opened", "thread.assigned"):
        await world.run(publish(NewEvent(type=event_type, thread="pr:1")))
    opened, assigned = await world.happenings("thread.opened", "thread.assigned")
    assert opened is not None
    assert assigned is not None
    assert (opened.post, opened.actor, assigned.assigned) == ("pr:1:opening", ADA, (BOB,))


async def test_a_batch_costs_as_many_statements_as_one_event(world: World) -> None:
    for number in range(20):
        await world.run(add_comment(f"comment:{number}", thread="pr:1", body="Hi", author=BOB))
        await world.run(assign("pr:1", [BOB]))
        await world.run(unassign("pr:1", [BOB]))
        await world.run(notify([BOB], title="Hi"))
    sent: list[str] = []
    async with world.database.session() as session:

        class Counting:
            async def fetch(self, name: str, /, **params: Any) -> list[Row]:
                sent.append(name)
                return await session.fetch(name, **params)

        for event_type in ("comment.created", "thread.assigned", "thread.unassigned", "message.addressed"):
            await RESOLVERS[event_type](Counting(), await world.events(event_type))
    assert sent == ["read_posts", "read_roles", "read_roles", "read_roles", "read_posts"]
