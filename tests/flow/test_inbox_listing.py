"""What the inbox shows (I2, I3, I7, W8, W11)."""

from collections.abc import AsyncIterator

import pytest

from clarion.inbox import choices, listing, mark_all, marks
from clarion.model.errors import Invalid, NotFound, TooLarge
from clarion.model.inbox import Cursor, InboxState, Tab
from clarion.model.reasons import Reason
from clarion.store.database import Database
from support.inbox_rows import BO, CHI, CLOSED, ME, Inbox


@pytest.fixture
async def inbox(database: Database) -> AsyncIterator[Inbox]:
    inbox = Inbox(database)
    await inbox.set_up()
    yield inbox
    await inbox.badge()


async def change(inbox: Inbox, sql: str) -> None:
    """Change rows as a handler would, under a raised version."""
    await inbox.rows(
        "WITH s AS (UPDATE clarion.inbox_state SET version = version + 1, raised_in = pg_current_xact_id()) " + sql
    )


async def test_W11_a_row_says_what_is_new_where_from_whom_and_why(inbox: Inbox) -> None:
    await inbox.bump(1, author=BO)
    await inbox.bump(1, author=CHI)
    row = await inbox.row(1)
    assert (row.key, row.space, row.thread_kind, row.title, row.link) == (
        "issue:1",
        10,
        "issue",
        "Title 1",
        "/issues/1",
    )
    assert (row.reason, row.latest_kind, row.actor, row.actor_handle) == (Reason.WATCHING, "comment", CHI, "chi")
    assert (row.first_unread, row.posts_unread, row.unread, row.subscribed) == ("1:1", 2, True, False)
    await inbox.do(choices.subscribe(ME, 1))
    await inbox.do(marks.read(ME, [1]))
    row = await inbox.row(1)
    assert (row.first_unread, row.posts_unread, row.actor, row.subscribed) == (None, 0, CHI, True)
    await inbox.bump(1, author=BO)
    row = await inbox.row(1)
    assert (row.first_unread, row.posts_unread, row.actor) == ("1:3", 1, BO)


async def test_W8_posts_of_somebody_muted_before_are_not_counted_but_where_they_name_the_person(inbox: Inbox) -> None:
    await inbox.bump(1, author=BO)
    await inbox.do(choices.mute(ME, BO))
    await inbox.bump(1, author=BO)
    await inbox.bump(1, author=CHI)
    assert (await inbox.row(1)).posts_unread == 2
    await inbox.rows(
        "INSERT INTO clarion.hit (post, person, kind, thread, position, author)"
        " SELECT id, 1, 'mentioned', thread, position, author FROM clarion.post WHERE key = '1:2'"
    )
    assert (await inbox.row(1)).posts_unread == 3


async def test_F7_ones_own_and_deleted_posts_are_never_unread(inbox: Inbox) -> None:
    await inbox.bump(1, author=BO)
    await inbox.bump(1, author=ME)
    await inbox.bump(1, author=CHI)
    await inbox.rows("UPDATE clarion.post SET gone = true WHERE key = '1:1'")
    row = await inbox.row(1)
    assert (row.posts_unread, row.first_unread) == (1, "1:3")


async def test_F100_a_row_whose_actor_is_gone_loads(inbox: Inbox) -> None:
    await inbox.bump(1, author=CHI)
    await inbox.rows("DELETE FROM clarion.person WHERE id = 3")
    row = await inbox.row(1)
    assert (row.actor, row.actor_handle, row.placeholder) == (CHI, None, False)


async def test_F101_a_row_whose_posts_are_gone_loads_and_counts(inbox: Inbox) -> None:
    await inbox.bump(1, 2)
    await inbox.rows("DELETE FROM clarion.post WHERE thread = 1")
    assert await inbox.page() == [2, 1]
    row = await inbox.row(1)
    assert (row.latest_kind, row.first_unread, row.posts_unread, row.unread) == (None, None, 0, True)


async def test_I7_what_may_no_longer_be_read_is_a_placeholder_that_counts_until_dismissed(inbox: Inbox) -> None:
    await inbox.bump(1, 2, 3)
    await inbox.rows("UPDATE clarion.thread SET space = %(space)s WHERE id IN (1, 2)", space=CLOSED)
    await inbox.rows(
        "INSERT INTO clarion.hit (post, person, kind, thread, position, author)"
        " SELECT id, 1, 'addressed', thread, position, author FROM clarion.post WHERE key = '3:1'"
    )
    await inbox.rows("UPDATE clarion.thread SET space = NULL WHERE id = 3")
    page = await inbox.do(listing.list_rows(ME))
    assert [(row.thread, row.placeholder) for row in page.rows] == [(3, False), (2, True), (1, True)]
    assert page.state.unread_count == 3
    row = page.rows[1]
    told = (row.key, row.space, row.thread_kind, row.title, row.link, row.latest_kind, row.actor, row.actor_handle)
    assert {*told, row.first_unread} == {None}
    assert row.posts_unread == 0
    assert await inbox.page(space=CLOSED) == []
    assert await inbox.page(kind="issue") == [3]
    assert await inbox.page(reason=Reason.WATCHING) == [3]
    assert (await inbox.do(marks.done(ME, [2]))).unread_count == 2
    await inbox.rows("UPDATE clarion.hit SET removed = true")
    assert (await inbox.row(3)).placeholder
    await inbox.rows("INSERT INTO clarion.space_member VALUES (20, 1)")
    assert (await inbox.row(1)).title == "Title 1"


async def test_I7_a_hidden_row_is_in_no_list(inbox: Inbox) -> None:
    await inbox.bump(1, 2)
    await inbox.do(marks.save(ME, [1]))
    await inbox.do(marks.done(ME, [1]))
    await inbox.do(marks.snooze(ME, [1], (await inbox.row(1)).active_at.replace(year=2100)))
    await change(inbox, "UPDATE clarion.notification SET hidden = true WHERE thread = 1")
    for tab in Tab:
        assert 1 not in await inbox.page(tab)
    with pytest.raises(NotFound):
        await inbox.row(1)


async def test_I3_a_walk_meets_every_row_once_and_newest_first(inbox: Inbox) -> None:
    await inbox.bump(*range(1, 8))
    for thread in (9, 8, 10):
        await inbox.bump(thread)
    walked: list[int] = []
    cursor = None
    while True:
        page = await inbox.do(listing.list_rows(ME, before=cursor, limit=3))
        walked += [row.thread for row in page.rows]
        if page.next is None:
            break
        cursor = Cursor.parse(str(page.next))
        await inbox.bump(2)
    assert walked == [10, 8, 9, 7, 6, 5, 4, 3, 1]
    assert await inbox.page(limit=1) == [2]


async def test_I3_a_full_last_page_says_that_it_is_the_last(inbox: Inbox) -> None:
    await inbox.bump(1, 2, 3)
    assert (await inbox.do(listing.list_rows(ME, limit=3))).next is None
    assert (await inbox.do(listing.list_rows(ME, limit=2))).next == Cursor(1, 2)


async def test_I2_a_filter_or_tab_never_changes_the_badge(inbox: Inbox) -> None:
    await inbox.bump(1, 2, 3)
    await change(inbox, "UPDATE clarion.notification SET reason = 'mentioned' WHERE thread = 2")
    await inbox.rows("UPDATE clarion.thread SET kind = 'pull_request' WHERE id = 3")
    page = await inbox.do(listing.list_rows(ME, reason=Reason.MENTIONED))
    assert ([row.thread for row in page.rows], page.state.unread_count) == ([2], 3)
    assert await inbox.page(kind="pull_request") == [3]
    assert await inbox.page(space=CLOSED) == []
    assert (await inbox.do(listing.list_rows(ME, tab=Tab.SAVED))).state.unread_count == 3


async def test_I3_a_sparse_filter_goes_on_behind_the_thousand_keys_it_looked_at(inbox: Inbox) -> None:
    await inbox.rows(
        "INSERT INTO clarion.thread (key, space, kind)"
        " SELECT 'many:' || i, 10, CASE WHEN i IN (1, 500, 501, 1500) THEN 'rare' ELSE 'issue' END"
        " FROM generate_series(1, 2500) AS i"
    )
    many = await inbox.rows("SELECT id, kind FROM clarion.thread WHERE key LIKE 'many:%%' ORDER BY id")
    await inbox.bump(*[row["id"] for row in many])
    rare = [row["id"] for row in many if row["kind"] == "rare"]
    pages, cursor = [], None
    for _ in range(4):
        page = await inbox.do(listing.list_rows(ME, kind="rare", before=cursor))
        pages.append([row.thread for row in page.rows])
        cursor = page.next
        if cursor is None:
            break
    # The key of 1500 is the thousand-and-first from the top; the one of 501 the last of the second thousand.
    assert pages == [[], [rare[3], rare[2]], [rare[1], rare[0]]]
    await inbox.do(mark_all.mark_all(ME, 1))
    assert (await inbox.do(listing.list_rows(ME))).rows == ()


async def test_I3_posts_are_counted_up_to_a_bound(inbox: Inbox) -> None:
    await inbox.bump(1)
    await inbox.rows(
        "INSERT INTO clarion.post (thread, position, key, kind, author)"
        " SELECT 1, i, 'p' || i, 'comment', 3 FROM generate_series(2, 1500) AS i"
    )
    await change(inbox, "UPDATE clarion.notification SET last = 1500 WHERE thread = 1")
    row = await inbox.row(1)
    assert (row.posts_unread, row.first_unread, row.actor) == (1000, "1:1", CHI)


async def test_a_person_never_told_of_anything_has_an_empty_inbox(inbox: Inbox) -> None:
    assert await inbox.do(listing.state(99)) == InboxState(0, 0, unseen=False)
    page = await inbox.do(listing.list_rows(99))
    assert (page.rows, page.next, page.state) == ((), None, InboxState(0, 0, unseen=False))
    assert (await inbox.do(listing.verify_person(99))).agrees


async def test_C7_verify_names_a_seeded_drift(inbox: Inbox) -> None:
    await inbox.bump(1, 2)
    await inbox.rows("UPDATE clarion.inbox_state SET unread_count = 5")
    verified = await inbox.do(listing.verify_person(ME))
    assert not verified.agrees
    assert (verified.stored, verified.counted, verified.listed) == (5, 2, 2)
    await inbox.rows("UPDATE clarion.inbox_state SET unread_count = 2")


async def test_K2_a_page_has_1_to_100_rows_and_a_cursor_is_checked(inbox: Inbox) -> None:
    with pytest.raises(TooLarge, match="100"):
        await inbox.do(listing.list_rows(ME, limit=101))
    with pytest.raises(Invalid, match="at least one"):
        await inbox.do(listing.list_rows(ME, limit=0))
    for text in ("", "1", "1.", "a.b", "1.2.3", "-1.2", "9223372036854775808.1"):
        with pytest.raises(Invalid, match="cursor"):
            Cursor.parse(text)
