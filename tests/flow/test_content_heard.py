"""From a content command to the right inboxes, by a real relay and our own resolvers."""

import pytest

from clarion.content.members import remove_space_member
from clarion.content.posts import ReviewComment, add_comment, delete_post, edit_post, submit_review
from clarion.content.resolvers import RESOLVERS
from clarion.content.roles import assign, unassign
from clarion.content.spaces import set_visibility
from clarion.content.threads import delete_thread, move_thread
from clarion.notifier import Notifier
from clarion.outbox.publish import notify
from clarion.store.database import Database
from clarion.work.relay import Relay
from clarion.work.wake import Wake
from support.content_world import ADA, BOB, CYN, PRIVATE, PUBLIC, World, make_world, open_issue


class Heard(World):
    """A world whose events are handled."""

    async def handle(self) -> None:
        await Relay(self.database, Notifier(RESOLVERS, "bigint"), Wake()).drain()
        rows = await self.rows(
            "SELECT type, last_error FROM clarion.outbox_event WHERE state NOT IN ('done', 'skipped')"
        )
        assert rows == []

    async def inbox(self) -> list[tuple[int, str, str]]:
        """Everybody's unread rows: person, thread, reason."""
        await self.handle()
        rows = await self.rows(
            "SELECT u.person, t.key, u.reason::text AS reason FROM clarion.inbox_state s, clarion.unread(s.person) u"
            " JOIN clarion.thread t ON t.id = u.thread ORDER BY 1, 2"
        )
        return [(row["person"], row["key"], row["reason"]) for row in rows]


@pytest.fixture
async def world(database: Database) -> Heard:
    await make_world(database)
    return Heard(database)


async def test_W2_an_opened_thread_reaches_whom_it_names(world: Heard) -> None:
    await open_issue(world, body="Can @bob look?")
    assert await world.inbox() == [(BOB, "issue:1", "mentioned")]


async def test_W9_a_comment_reaches_the_author_and_who_commented(world: Heard) -> None:
    await open_issue(world)
    await world.run(add_comment("comment:1", thread="issue:1", body="Me too", author=BOB))
    await world.handle()
    await world.run(add_comment("comment:2", thread="issue:1", body="Not me", author=CYN))
    assert await world.inbox() == [(ADA, "issue:1", "author"), (BOB, "issue:1", "subscribed")]


async def test_W12_an_edit_tells_whom_it_names_now_and_a_delete_takes_it_back(world: Heard) -> None:
    await open_issue(world)
    await world.run(add_comment("comment:1", thread="issue:1", body="Hm", author=ADA))
    assert await world.inbox() == []
    await world.run(edit_post("comment:1", body="Hm @cyn", actor=ADA))
    assert await world.inbox() == [(CYN, "issue:1", "mentioned")]
    await world.run(delete_post("comment:1", actor=ADA))
    assert await world.inbox() == []


async def test_W13_a_review_is_one_notification_with_all_its_posts(world: Heard) -> None:
    await open_issue(world, "pr:1", kind="pull_request")
    parts = [ReviewComment(key=f"part:{number}", body="See") for number in range(3)]
    await world.run(submit_review("review:1", thread="pr:1", body="Nice", author=BOB, comments=parts))
    assert await world.inbox() == [(ADA, "pr:1", "author")]
    rows = await world.rows("SELECT last - first_unread + 1 AS posts FROM clarion.notification WHERE person = 1")
    assert rows == [{"posts": 4}]


async def test_W1_an_assignment_is_told_and_taken_back(world: Heard) -> None:
    await open_issue(world)
    await world.run(assign("issue:1", [BOB, CYN], actor=ADA))
    assert await world.inbox() == [(BOB, "issue:1", "assigned"), (CYN, "issue:1", "assigned")]
    await world.run(unassign("issue:1", [BOB], actor=ADA))
    assert await world.inbox() == [(CYN, "issue:1", "assigned")]


async def test_W15_access_lost_in_each_way_hides_and_a_deletion_takes_rows_along(world: Heard) -> None:
    await open_issue(world, "issue:1", body="@bob @cyn")
    await open_issue(world, "issue:2", body="@bob", space=PRIVATE)
    await open_issue(world, "issue:3", body="@bob")
    assert [row[:2] for row in await world.inbox()] == [
        (BOB, "issue:1"), (BOB, "issue:2"), (BOB, "issue:3"), (CYN, "issue:1"),
    ]  # fmt: skip
    await world.run(move_thread("issue:1", to=PRIVATE, actor=ADA))
    assert [row[:2] for row in await world.inbox()] == [(BOB, "issue:1"), (BOB, "issue:2"), (BOB, "issue:3")]
    await world.run(remove_space_member(PRIVATE, BOB))
    assert [row[:2] for row in await world.inbox()] == [(BOB, "issue:3")]
    await world.run(set_visibility(PUBLIC, "private"))
    assert await world.inbox() == []
    await world.run(set_visibility(PUBLIC, "public"))
    await world.run(delete_thread("issue:3"))
    await world.handle()
    assert await world.shown(BOB) == []
    assert await world.rows("SELECT 1 AS one FROM clarion.thread WHERE key = 'issue:3'") == []


async def test_W8_a_message_reaches_those_addressed(world: Heard) -> None:
    await world.run(notify([BOB], title="Hello", actor=ADA, idempotency_key="m1"))
    assert await world.inbox() == [(BOB, "notify:m1", "addressed")]
