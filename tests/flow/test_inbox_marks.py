"""Marks on rows, against rows written as the notifier writes them (I1 to I4)."""

from collections.abc import AsyncIterator, Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from clarion.inbox import listing, mark_all, marks
from clarion.model.errors import Invalid, TooLarge
from clarion.model.inbox import Marked, Tab, Undo
from clarion.store.database import Command, Database
from support.inbox_rows import CHI, ME, Inbox

LATER = datetime(2100, 1, 1, tzinfo=UTC)
Mark = Callable[[int, Collection[int]], Command[Marked]]


def snooze(person: int, threads: Collection[int]) -> Command[Marked]:
    return marks.snooze(person, threads, LATER)


@pytest.fixture
async def inbox(database: Database) -> AsyncIterator[Inbox]:
    inbox = Inbox(database)
    await inbox.set_up()
    yield inbox
    await inbox.badge()


async def test_I1_reading_lowers_the_badge_and_keeps_the_place(inbox: Inbox) -> None:
    for thread in (1, 2, 3):
        await inbox.bump(thread)
    before = await inbox.row(2)
    assert await inbox.do(marks.read(ME, [2])) == Marked(changed=1, version=4, unread_count=2)
    assert await inbox.page() == [3, 1]
    assert await inbox.page(Tab.ALL) == [3, 2, 1]
    after = await inbox.row(2)
    assert (after.active_at, after.seq, after.unread) == (before.active_at, before.seq, False)


@pytest.mark.parametrize(
    "mark", [marks.read, marks.unread, marks.done, marks.not_done, marks.save, marks.unsave, snooze, marks.unsnooze]
)
@pytest.mark.parametrize("first", [None, marks.done, snooze, marks.save])
async def test_I1_marking_twice_is_a_no_op(inbox: Inbox, mark: Mark, first: Mark | None) -> None:
    await inbox.bump(1, 2)
    if first:
        await inbox.do(first(ME, [1]))
    once = await inbox.do(mark(ME, [1, 2, 3]))
    twice = await inbox.do(mark(ME, [1, 2, 3]))
    assert twice == Marked(0, once.version, once.unread_count)
    assert await inbox.badge() == once.unread_count


async def test_I6_several_marks_in_one_transaction_raise_the_version_by_one(inbox: Inbox) -> None:
    await inbox.bump(1, 2, 3)
    async with inbox.database.session() as session:
        assert (await session.run(marks.read(ME, [1]))).version == 2
        assert (await session.run(marks.save(ME, [2]))).version == 2
        assert (await session.run(marks.done(ME, [3]))) == Marked(1, 2, 1)
    assert await inbox.version() == 2


async def test_I1_done_implies_read_and_undoing_it_leaves_it_read(inbox: Inbox) -> None:
    await inbox.bump(1, 2)
    assert (await inbox.do(marks.done(ME, [1]))).unread_count == 1
    assert (await inbox.page(Tab.DONE), await inbox.page(Tab.ALL), await inbox.page()) == ([1], [2], [2])
    assert (await inbox.do(marks.not_done(ME, [1]))).unread_count == 1
    assert (await inbox.page(Tab.DONE), await inbox.page(Tab.ALL), await inbox.page()) == ([], [2, 1], [2])


async def test_I1_unread_clears_done(inbox: Inbox) -> None:
    await inbox.bump(1)
    await inbox.do(marks.done(ME, [1]))
    assert (await inbox.do(marks.unread(ME, [1]))).unread_count == 1
    row = await inbox.row(1)
    assert (row.unread, row.done) == (True, False)


async def test_I1_saved_stands_apart_and_stays_through_new_activity(inbox: Inbox) -> None:
    await inbox.bump(1, 2)
    assert (await inbox.do(marks.save(ME, [1]))).unread_count == 2
    await inbox.do(marks.done(ME, [1]))
    await inbox.bump(1)
    assert await inbox.page(Tab.SAVED) == [1]
    assert await inbox.page() == [1, 2]
    await inbox.do(marks.unsave(ME, [1]))
    assert await inbox.page(Tab.SAVED) == []


async def test_I1_later_activity_clears_read_done_and_snooze(inbox: Inbox) -> None:
    await inbox.bump(1, 2, 3)
    await inbox.do(marks.read(ME, [1]))
    await inbox.do(marks.done(ME, [2]))
    await inbox.do(snooze(ME, [3]))
    assert await inbox.badge() == 0
    for thread in (1, 2, 3):
        await inbox.bump(thread)
    assert await inbox.page() == [3, 2, 1]
    assert await inbox.page(Tab.SNOOZED) == []


async def test_W12_unsaving_a_row_that_stands_for_nothing_drops_it(inbox: Inbox) -> None:
    await inbox.bump(1, 2)
    await inbox.do(marks.save(ME, [1, 2]))
    await inbox.rows("UPDATE clarion.post SET gone = true WHERE thread = 1")
    await inbox.do(marks.read(ME, [1]))
    assert await inbox.do(marks.unsave(ME, [1, 2])) == Marked(2, 4, 1)
    assert await inbox.page(Tab.ALL) == [2]


async def test_I1_a_snoozed_row_is_away_and_its_end_is_an_event_in_the_future(inbox: Inbox) -> None:
    await inbox.bump(1, 2)
    assert (await inbox.do(marks.snooze(ME, [1, 2, 3], LATER))).unread_count == 0
    assert await inbox.page() == []
    assert await inbox.page(Tab.SNOOZED) == [2, 1]
    events = await inbox.rows(
        "SELECT type, thread_key, keys, available_at FROM clarion.outbox_event ORDER BY thread_key"
    )
    assert [tuple(event.values()) for event in events] == [
        ("snooze.ended", f"issue:{thread}", {"person": "1"}, LATER) for thread in (1, 2)
    ]
    assert (await inbox.do(marks.unsnooze(ME, [1]))).unread_count == 1
    assert (await inbox.row(1)).snoozed_until is None


async def test_I1_a_snooze_stays_apart_from_read_and_done_ends_it(inbox: Inbox) -> None:
    await inbox.bump(1, 2)
    await inbox.do(snooze(ME, [1, 2]))
    await inbox.do(marks.read(ME, [1]))
    assert (await inbox.row(1)).snoozed_until == LATER
    await inbox.do(marks.done(ME, [2]))
    assert (await inbox.row(2)).snoozed_until is None
    await inbox.do(marks.unsnooze(ME, [1]))
    assert await inbox.badge() == 0


async def test_I1_a_snooze_needs_a_time_in_the_future_with_its_zone(inbox: Inbox) -> None:
    await inbox.bump(1)
    with pytest.raises(Invalid, match="future"):
        await inbox.do(marks.snooze(ME, [1], datetime(2000, 1, 1, tzinfo=UTC)))
    with pytest.raises(Invalid, match="zone"):
        await inbox.do(marks.snooze(ME, [1], LATER.replace(tzinfo=None)))
    assert await inbox.badge() == 1


async def test_K2_a_mark_takes_at_most_100_threads(inbox: Inbox) -> None:
    with pytest.raises(TooLarge, match="100"):
        await inbox.do(marks.read(ME, range(101)))
    assert (await inbox.do(marks.read(ME, range(100)))).changed == 0


async def test_a_mark_never_reaches_another_persons_rows_nor_hidden_ones(inbox: Inbox) -> None:
    await inbox.bump(1, person=CHI)
    await inbox.bump(2)
    await inbox.rows(
        "WITH h AS (UPDATE clarion.notification SET hidden = true, read_at = now() WHERE thread = 2)"
        " UPDATE clarion.inbox_state SET unread_count = 0, version = 2, raised_in = pg_current_xact_id()"
        " WHERE person = 1"
    )
    every: list[Any] = [marks.read, marks.unread, marks.done, marks.save, snooze]
    for mark in every:
        assert (await inbox.do(mark(ME, [1, 2]))) == Marked(0, 2, 0)
    assert await inbox.badge(CHI) == 1


async def test_F43_mark_all_by_the_version_of_a_page_leaves_what_came_later(inbox: Inbox) -> None:
    for thread in (1, 2, 3):
        await inbox.bump(thread)
    shown = (await inbox.do(listing.list_rows(ME))).state.version
    await inbox.bump(4)
    await inbox.bump(2)
    marked = (await inbox.do(mark_all.mark_all(ME, shown))).marked
    assert marked == Marked(changed=2, version=6, unread_count=2)
    assert await inbox.page() == [2, 4]


async def test_I4_mark_all_can_be_undone_once_and_not_under_a_later_one(inbox: Inbox) -> None:
    await inbox.bump(1, 2, 3)
    await inbox.do(marks.read(ME, [3]))
    first = await inbox.do(mark_all.mark_all(ME, 2))
    assert (first.marked, first.undo) == (Marked(2, 3, 0), Undo(0, 2))
    assert await inbox.do(mark_all.undo_mark_all(ME, first.undo)) == Marked(2, 4, 2)
    assert await inbox.do(mark_all.undo_mark_all(ME, first.undo)) == Marked(0, 4, 2)
    assert await inbox.page() == [2, 1]
    again = await inbox.do(mark_all.mark_all(ME, 4))
    await inbox.bump(5)
    await inbox.do(mark_all.mark_all(ME, await inbox.version()))
    assert (await inbox.do(mark_all.undo_mark_all(ME, again.undo))).changed == 0
    assert await inbox.badge() == 0


async def test_I4_mark_all_twice_is_a_no_op_and_so_is_one_with_nothing_unread(inbox: Inbox) -> None:
    await inbox.bump(1)
    await inbox.do(marks.read(ME, [1]))
    nothing = await inbox.do(mark_all.mark_all(ME, 2))
    assert nothing.marked == Marked(0, 2, 0)
    assert nothing.undo == Undo(0, 0)
    assert await inbox.do(mark_all.undo_mark_all(ME, nothing.undo)) == Marked(0, 2, 0)


@pytest.mark.parametrize("cutoff", [-1, 2])
async def test_I4_a_cutoff_that_no_page_can_have_carried_is_refused(inbox: Inbox, cutoff: int) -> None:
    await inbox.bump(1)
    with pytest.raises(Invalid, match="cutoff"):
        await inbox.do(mark_all.mark_all(ME, cutoff))
    with pytest.raises(Invalid, match="cutoff"):
        await inbox.do(mark_all.mark_space(ME, 10, cutoff))
    with pytest.raises(Invalid, match="version"):
        await inbox.do(mark_all.seen(ME, cutoff))
    with pytest.raises(Invalid, match="mark-all"):
        await inbox.do(mark_all.undo_mark_all(ME, Undo(0, 7)))


async def test_F44_unreading_one_row_below_the_watermark_leaves_the_others_read(inbox: Inbox) -> None:
    await inbox.bump(*range(1, 11))
    await inbox.do(mark_all.mark_all(ME, 1))
    assert (await inbox.do(marks.unread(ME, [5]))).unread_count == 1
    assert await inbox.page() == [5]
    assert (await inbox.do(mark_all.mark_all(ME, 2))).marked.changed == 0
    assert (await inbox.do(mark_all.mark_all(ME, 3))).marked == Marked(1, 4, 0)


async def test_I4_an_instant_is_translated_to_a_number_below_what_came_after_it(inbox: Inbox) -> None:
    for thread in range(1, 6):
        await inbox.bump(thread)
    # Bump 3 began before bump 2, in a longer transaction: timed as it began, numbered as it committed.
    noon = datetime(2025, 1, 1, 12, tzinfo=UTC)
    for thread, minutes in ((1, -300), (2, 5), (3, -5), (4, 10), (5, 20)):
        await inbox.rows(
            "WITH s AS (UPDATE clarion.inbox_state SET raised_in = pg_current_xact_id())"
            " UPDATE clarion.notification SET active_at = %(at)s WHERE thread = %(thread)s",
            at=noon + timedelta(minutes=minutes),
            thread=thread,
        )
    marked = await inbox.do(mark_all.mark_all(ME, noon))
    assert (marked.undo, marked.marked.unread_count) == (Undo(0, 1), 4)
    assert await inbox.page() == [5, 4, 3, 2]
    assert (await inbox.do(mark_all.mark_all(ME, noon + timedelta(minutes=15)))).undo == Undo(1, 4)
    assert await inbox.page() == [5]
    assert (await inbox.do(mark_all.mark_all(ME, LATER))).marked.unread_count == 0


async def test_I4_a_space_is_marked_row_by_row_and_others_stay(inbox: Inbox) -> None:
    await inbox.rows(
        "INSERT INTO clarion.thread (key, space) SELECT 'many:' || i, 20 FROM generate_series(1, 2500) AS i"
    )
    await inbox.rows("INSERT INTO clarion.space_member VALUES (20, 1)")
    many = [row["id"] for row in await inbox.rows("SELECT id FROM clarion.thread WHERE space = 20 ORDER BY id")]
    await inbox.bump(*many[:1300], 1)
    await inbox.bump(*many[1300:2400], 2)
    shown = await inbox.version()
    await inbox.bump(*many[2400:], 3)
    assert await inbox.do(mark_all.mark_space(ME, 20, shown)) == Marked(2400, 4, 103)
    assert await inbox.page(space=10) == [3, 2, 1]
    assert await inbox.do(mark_all.mark_space(ME, 20, shown)) == Marked(0, 4, 103)


async def test_I1_the_colour_is_whether_anything_came_since_the_panel_was_opened(inbox: Inbox) -> None:
    await inbox.bump(1, 2)
    state = await inbox.do(listing.state(ME))
    assert state.unseen
    assert await inbox.do(mark_all.seen(ME, state.version)) == Marked(1, 2, 2)
    assert not (await inbox.do(listing.state(ME))).unseen
    assert await inbox.do(mark_all.seen(ME, 2)) == Marked(0, 2, 2)
    await inbox.bump(3)
    assert (await inbox.do(listing.state(ME))).unseen
    await inbox.do(marks.read(ME, [3]))
    assert not (await inbox.do(listing.state(ME))).unseen


async def test_F47_opening_the_panel_marks_nothing_read(inbox: Inbox) -> None:
    await inbox.bump(*range(1, 21))
    page = await inbox.do(listing.list_rows(ME, limit=10))
    await inbox.do(mark_all.seen(ME, page.state.version))
    assert await inbox.badge() == 20
