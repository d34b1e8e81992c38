"""Reading the thing itself, before and after its event is handled (I5), and the end of a snooze (O10)."""

from datetime import UTC, datetime, timedelta

from clarion.content import posts, threads
from clarion.inbox import choices, listing, marks, reading
from clarion.model.inbox import Marked, Tab, WatchLevel
from clarion.model.reasons import Reason
from support.world import ADA, BO, CHI, HARBOR, World


async def opened(world: World, *comments: str) -> None:
    """Ada opens issue i1 in a space that Bo watches, and it is told; then come comments that are not."""
    await world.do(choices.watch(BO, HARBOR, WatchLevel.ALL))
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", author=ADA))
    for number, body in enumerate(comments, 1):
        await world.do(posts.add_comment(f"c{number}", thread="i1", body=body, author=ADA))


async def positions(world: World) -> list[int]:
    rows = await world.rows("SELECT read_position FROM clarion.thread_person WHERE person = %s", BO)
    return [row["read_position"] for row in rows]


async def test_I5_reading_a_thread_marks_its_row_and_keeps_the_position(world: World) -> None:
    await opened(world, "one", "two")
    await world.relay.drain()
    marked = await world.do(reading.read_thread(BO, "i1"))
    assert (marked.changed, marked.unread_count) == (1, 0)
    assert await positions(world) == [3]
    assert (await world.do(reading.read_thread(BO, "i1"))) == Marked(0, marked.version, 0)
    assert not (await world.inbox("i1"))[BO].unread


async def test_I5_what_is_read_before_its_event_is_handled_never_becomes_unread(world: World) -> None:
    await opened(world, "one", "@bo two")
    await world.do(reading.read_thread(BO, "i1"))
    await world.relay.drain()
    assert not (await world.inbox("i1"))[BO].unread
    await world.tell(posts.add_comment("c3", thread="i1", body="three", author=CHI))
    assert (await world.inbox("i1"))[BO].unread
    row = await world.do(listing.get_row(BO, await world.thread("i1")))
    assert (row.first_unread, row.posts_unread) == ("c3", 1)


async def test_I5_a_thread_can_be_read_before_anything_of_it_was_handled(world: World) -> None:
    await world.do(choices.watch(BO, HARBOR, WatchLevel.ALL))
    await world.do(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", body="@bo", author=ADA))
    assert (await world.do(reading.read_thread(BO, "i1"))).changed == 0
    await world.relay.drain()
    assert BO not in await world.inbox("i1")


async def test_I5_reading_up_to_a_post_leaves_the_later_ones_unread(world: World) -> None:
    await opened(world, "@bo one", "two", "three")
    await world.relay.drain()
    row = await world.do(listing.get_row(BO, await world.thread("i1")))
    assert (row.posts_unread, row.reason) == (4, Reason.MENTIONED)
    assert (await world.do(reading.read_post(BO, "c1"))).changed == 1
    row = await world.do(listing.get_row(BO, row.thread))
    # W11: the mention is read, so the strongest reason of what is left is another.
    assert (row.first_unread, row.posts_unread, row.reason) == ("c2", 2, Reason.SUBSCRIBED)
    assert (await world.do(reading.read_post(BO, "i1:opening"))).changed == 0
    assert (await world.do(reading.read_post(BO, "c3"))).unread_count == 0
    assert await positions(world) == [4]
    await world.check()


async def test_I5_a_post_read_ahead_leaves_later_ones_that_wait_too(world: World) -> None:
    await opened(world, "one", "two", "three")
    await world.do(reading.read_post(BO, "c2"))
    await world.relay.drain()
    row = await world.do(listing.get_row(BO, await world.thread("i1")))
    assert row.unread
    await world.do(reading.read_post(BO, "c2"))
    row = await world.do(listing.get_row(BO, row.thread))
    assert (row.first_unread, row.posts_unread) == ("c3", 1)


async def test_I5_reading_one_post_does_not_read_another_that_waits(world: World) -> None:
    await opened(world, "one")
    await world.relay.drain()
    await world.do(reading.read_post(BO, "c1"))
    await world.do(posts.add_comment("c2", thread="i1", body="two", author=ADA))
    await world.do(posts.edit_post("c1", body="@bo one", actor=ADA))
    await world.do(reading.read_post(BO, "c1"))
    await world.relay.drain()
    row = await world.do(listing.get_row(BO, await world.thread("i1")))
    assert (row.first_unread, row.unread) == ("c2", True)


async def test_I5_reading_what_nobody_knows_is_no_error(world: World) -> None:
    assert (await world.do(reading.read_thread(BO, "nowhere"))).changed == 0
    assert (await world.do(reading.read_post(BO, "nothing"))).changed == 0
    assert (await world.do(reading.read_post(BO, "nothing", thread="nowhere"))).changed == 0


async def test_I1_a_snooze_ends_as_unread_on_top_and_one_put_off_does_not(world: World) -> None:
    await opened(world)
    await world.tell(threads.open_thread("i2", space=HARBOR, kind="issue", title="T", author=ADA))
    await world.tell(threads.open_thread("i3", space=HARBOR, kind="issue", title="T", author=ADA))
    one, two, three = [await world.thread(key) for key in ("i1", "i2", "i3")]
    soon = datetime.now(UTC) + timedelta(hours=1)
    await world.do(marks.read(BO, [one]))
    await world.do(marks.snooze(BO, [one, two], soon))
    await world.do(marks.snooze(BO, [two], soon + timedelta(hours=8)))
    await world.relay.drain()
    await world.rows(
        "CREATE OR REPLACE FUNCTION clarion.now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS"
        " $$ SELECT pg_catalog.now() + interval '2 hours' $$"
    )
    await world.relay.drain()
    page = await world.do(listing.list_rows(BO))
    assert [row.thread for row in page.rows] == [one, three]
    page = await world.do(listing.list_rows(BO, tab=Tab.SNOOZED))
    assert [row.thread for row in page.rows] == [two]
    await world.check()
