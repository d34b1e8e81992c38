"""What the engine's property test has found, each in its shortest form."""

import pytest

from clarion.content import members, posts, threads
from clarion.inbox import choices, marks
from clarion.model.inbox import WatchLevel
from clarion.store.database import Command, Database
from support.barriers import make_relay
from support.world import ADA, BO, CHI, DARA, EMIL, HARBOR, VAULT, Seen, World


@pytest.fixture
async def world(database: Database) -> World:
    """Ada's issue i1, which nobody else has heard of."""
    world = World(database)
    await world.settle_in()
    await world.tell(open_issue("i1"))
    return world


def open_issue(key: str, body: str = "by ada") -> Command[object]:
    return threads.open_thread(key, space=HARBOR, kind="issue", title="T", body=body, author=ADA)


async def test_W12_two_deletions_in_one_batch_leave_no_empty_row(world: World) -> None:
    part = posts.ReviewComment(key="r1.1", body="line 1")
    await world.tell(posts.submit_review("r1", thread="i1", body="x", author=BO, comments=[part]))
    assert await world.inbox("i1") == {ADA: Seen("author", True, 2)}
    await world.tell(posts.delete_post("r1", actor=BO))
    assert await world.inbox("i1") == {}


async def test_W12_an_edit_while_its_post_is_told_in_chunks_reaches_those_before_the_cursor(world: World) -> None:
    for person in (CHI, DARA):
        await world.do(choices.watch(person, HARBOR, WatchLevel.ALL))
    await world.do(posts.add_comment("c1", thread="i1", body="x", author=EMIL))
    assert await one_turn(world, chunk_people=2) == 1
    await world.do(posts.edit_post("c1", body="@bo @chi", actor=EMIL))
    await make_relay(world.database, chunk_people=2).drain()
    inbox = await world.inbox("i1")
    assert inbox[BO] == inbox[CHI] == Seen("mentioned", True, 1)
    assert inbox[DARA] == Seen("watching", True, 1)


async def test_O4_who_was_told_in_a_chunk_is_not_told_again_with_the_next(world: World) -> None:
    for person in (BO, CHI, DARA, EMIL):
        await world.do(choices.watch(person, HARBOR, WatchLevel.ALL))
    await world.do(posts.add_comment("c1", thread="i1", body="x", author=ADA))
    assert await one_turn(world, chunk_people=3) == 1
    await world.do(marks.read(BO, [await world.thread("i1")]))
    await world.do(open_issue("i2", "@bo"))
    await make_relay(world.database).drain()
    inbox = await world.inbox("i1")
    assert not inbox[BO].unread
    assert inbox[EMIL].unread


async def test_W11_a_mention_of_oneself_is_no_reason(world: World) -> None:
    await world.do(posts.add_comment("c1", thread="i1", body="one, @ada", author=BO))
    await world.do(posts.add_comment("c2", thread="i1", body="mine, @ada", author=ADA))
    await world.tell(posts.add_comment("c3", thread="i1", body="two", author=BO))
    await world.tell(posts.edit_post("c1", body="nobody", actor=BO))
    assert await world.inbox("i1") == {ADA: Seen("author", True, 2), BO: Seen("subscribed", True, 1)}


async def test_W15_a_saved_row_without_posts_is_not_hidden_from_who_may_read_it(world: World) -> None:
    await world.do(members.add_space_member(VAULT, CHI))
    await world.tell(threads.open_thread("v1", space=VAULT, kind="issue", title="T", body="@bo", author=ADA))
    await world.do(marks.save(BO, [await world.thread("v1")]))
    await world.tell(threads.edit_thread("v1", body="-", actor=ADA))
    await world.do(choices.block(BO, CHI))
    await world.do(choices.block(BO, ADA))
    assert await world.inbox("v1") == {BO: Seen("mentioned", False, 0)}


async def test_W8_what_was_written_by_somebody_muted_keeps_no_row(world: World) -> None:
    await world.do(choices.mute(ADA, CHI))
    await world.do(posts.add_comment("c1", thread="i1", body="x", author=BO))
    await world.do(posts.add_comment("c2", thread="i1", body="y", author=CHI))
    await world.tell(posts.add_comment("c3", thread="i1", body="z", author=BO))
    assert (await world.inbox("i1"))[ADA] == Seen("author", True, 2)
    await world.tell(posts.delete_post("c1", actor=BO), posts.delete_post("c3", actor=BO))
    assert ADA not in await world.inbox("i1")


async def test_W12_an_edit_by_another_that_names_the_author_of_a_post_counts(world: World) -> None:
    await world.tell(threads.edit_thread("i1", body="see, @ada", actor=BO))
    assert await world.inbox("i1") == {ADA: Seen("mentioned", True, 1)}


async def test_W11_whom_an_edit_names_directly_sees_that_reason_whatever_comes_first(world: World) -> None:
    for person in (BO, CHI):
        await world.do(choices.watch(person, HARBOR, WatchLevel.ALL))
    await world.tell(posts.add_comment("c1", thread="i1", body="@bo", author=DARA))
    await world.tell(posts.edit_post("c1", body="-", actor=DARA))
    assert (await world.inbox("i1"))[BO] == Seen("watching", True, 1)
    await world.tell(posts.edit_post("c1", body="@bo again", actor=DARA))
    assert (await world.inbox("i1"))[BO] == Seen("mentioned", True, 1)


async def one_turn(world: World, *, chunk_people: int) -> int:
    """One batch of a relay that tells few at once."""
    relay = make_relay(world.database, chunk_people=chunk_people)
    main = await world.database.connect("relay", autocommit=False)
    notes = await world.database.connect("notes")
    moved = await relay.turn(main, notes)
    await main.connection.close()
    await notes.connection.close()
    return moved
