"""Two connections at one inbox: whoever is second looks again after the lock (ENGINE, 1 and 2)."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime

import pytest

from clarion.inbox import choices, listing, locked, mark_all, marks, reading
from clarion.model.inbox import Marked
from clarion.outbox.publish import NewEvent, publish
from clarion.store.database import Database
from support.inbox_rows import BO, CHI, ME, Inbox, bump


@pytest.fixture
async def inbox(database: Database) -> AsyncIterator[Inbox]:
    inbox = Inbox(database)
    await inbox.set_up()
    yield inbox
    await inbox.badge()


async def test_F35_a_mark_that_waits_for_a_bump_counts_what_the_bump_made(inbox: Inbox) -> None:
    await inbox.bump(1)
    await inbox.do(marks.read(ME, [1]))
    async with inbox.database.session() as bumping:
        await bump(bumping, 1, 2)
        waiting = asyncio.create_task(inbox.do(marks.read(ME, [1])))
        await inbox.someone_waits()
    assert await waiting == Marked(1, 4, 1)
    assert await inbox.page() == [2]


async def test_F35_a_bump_that_waits_for_a_mark_counts_what_the_mark_made(inbox: Inbox) -> None:
    await inbox.bump(1, 2)
    async with inbox.database.session() as marking:
        await marking.run(marks.done(ME, [1, 2]))
        waiting = asyncio.create_task(inbox.bump(1))
        await inbox.someone_waits()
    await waiting
    assert await inbox.badge() == 1
    assert await inbox.page() == [1]


async def test_F35_two_marks_of_one_row_at_once_lower_the_badge_once(inbox: Inbox) -> None:
    await inbox.bump(1, 2)
    both = await asyncio.gather(inbox.do(marks.read(ME, [1])), inbox.do(marks.done(ME, [1])))
    assert {mark.changed for mark in both} == {1} or sorted(mark.changed for mark in both) == [0, 1]
    assert await inbox.badge() == 1


async def test_F43_a_bump_that_commits_while_mark_all_waits_stays_unread(inbox: Inbox) -> None:
    await inbox.bump(1)
    shown = await inbox.version()
    async with inbox.database.session() as bumping:
        await bump(bumping, 2)
        waiting = asyncio.create_task(inbox.do(mark_all.mark_all(ME, shown)))
        await inbox.someone_waits()
    assert (await waiting).marked == Marked(1, 3, 1)
    assert await inbox.page() == [2]


async def test_F43_a_bump_that_commits_after_a_mark_all_by_instant_stays_unread(inbox: Inbox) -> None:
    await inbox.bump(1)
    async with inbox.database.session() as marking:
        instant = await _now(inbox)
        await marking.run(mark_all.mark_all(ME, instant))
        waiting = asyncio.create_task(inbox.bump(2))
        await inbox.someone_waits()
    await waiting
    assert await inbox.page() == [2]


async def _now(inbox: Inbox) -> datetime:
    found: datetime = (await inbox.rows("SELECT clarion.now() AS now"))[0]["now"]
    return found


async def test_two_first_marks_of_one_person_make_one_state_row(inbox: Inbox) -> None:
    async with inbox.database.session() as first:
        await first.run(marks.read(99, [1]))
        waiting = asyncio.create_task(inbox.do(marks.read(99, [1])))
        await inbox.someone_waits()
    assert await waiting == Marked(0, 0, 0)


async def test_I5_reading_waits_for_a_relay_that_is_handling_the_event_and_then_marks(inbox: Inbox) -> None:
    await inbox.do(publish(NewEvent(type="comment.created", thread="issue:1", post="c1", actor=BO)))
    async with inbox.database.session() as relay:
        await relay.connection.execute("SELECT id FROM clarion.outbox_event FOR UPDATE")
        waiting = asyncio.create_task(inbox.do(reading.read_thread(ME, "issue:1")))
        await inbox.someone_waits()
        await bump(relay, 1)
        await relay.connection.execute("UPDATE clarion.outbox_event SET state = 'done', settled_at = now()")
    assert (await waiting).unread_count == 0
    assert await inbox.rows("SELECT event FROM clarion.read_ahead") == []
    assert not (await inbox.row(1)).unread


async def test_W15_blocks_in_both_directions_at_once_meet_no_deadlock(inbox: Inbox) -> None:
    await inbox.bump(1, author=BO)
    await inbox.bump(2, person=BO, author=ME)
    for _ in range(20):
        await asyncio.gather(inbox.do(choices.block(ME, BO)), inbox.do(choices.block(BO, ME)))
        assert (await inbox.badge(), await inbox.badge(BO)) == (0, 0)
        await asyncio.gather(inbox.do(choices.unblock(ME, BO)), inbox.do(choices.unblock(BO, ME)))
        assert not (await inbox.row(1)).unread
    stands = await inbox.rows("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    assert stands == [{"deadlocks": 0}]


async def test_W15_a_block_waits_for_a_telling_under_way_and_hides_what_it_wrote(inbox: Inbox) -> None:
    async with inbox.database.session() as telling:
        await bump(telling, 1, author=BO)
        waiting = asyncio.create_task(inbox.do(choices.block(ME, BO)))
        await inbox.someone_waits()
    assert (await waiting).unread_count == 0
    assert await inbox.page() == []


async def test_a_lock_of_one_person_holds_up_nobody_else(inbox: Inbox) -> None:
    async with inbox.database.session() as holding:
        await holding.run(locked.lock(ME))
        await inbox.bump(1, person=CHI)
        assert (await inbox.do(marks.read(CHI, [1]))).changed == 1
        assert (await inbox.do(listing.state(ME))).version == 0
