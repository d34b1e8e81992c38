"""Access changes hide whole threads, and nothing un-hides by itself (W15)."""

from clarion.content import members, posts, spaces, threads
from clarion.inbox import choices, marks, reading
from clarion.model.inbox import WatchLevel
from support.world import ADA, BO, CHI, DARA, HARBOR, VAULT, Seen, World


async def open_in(world: World, space: int, key: str, body: str = "@bo") -> None:
    await world.tell(threads.open_thread(key, space=space, kind="issue", title="T", body=body, author=ADA))


async def test_W15_a_removal_hides_in_its_own_transaction_and_regaining_brings_back_as_read(world: World) -> None:
    await open_in(world, VAULT, "v1")
    await world.do(members.remove_space_member(VAULT, BO))
    assert await world.inbox("v1") == {}
    await world.do(members.add_space_member(VAULT, BO))
    assert await world.inbox("v1") == {BO: Seen("mentioned", False, 1)}


async def test_W15_a_space_made_private_hides_by_an_event_and_public_again_shows_as_read(world: World) -> None:
    await open_in(world, HARBOR, "i1", "@bo @chi")
    await world.do(members.add_space_member(HARBOR, CHI))
    await world.tell(spaces.set_visibility(HARBOR, "private"))
    assert await world.inbox("i1") == {CHI: Seen("mentioned", True, 1)}
    await world.tell(spaces.set_visibility(HARBOR, "public"))
    assert await world.inbox("i1") == {CHI: Seen("mentioned", True, 1), BO: Seen("mentioned", False, 1)}


async def test_W15_a_block_hides_rows_whose_only_unread_posts_are_theirs(world: World) -> None:
    await world.do(choices.watch(BO, HARBOR, WatchLevel.ALL))
    await open_in(world, HARBOR, "i1", "by ada")
    await open_in(world, HARBOR, "i2", "by ada")
    await world.tell(posts.add_comment("c1", thread="i2", body="by chi", author=CHI))
    await world.do(choices.block(BO, ADA))
    assert BO not in await world.inbox("i1")
    assert (await world.inbox("i2"))[BO] == Seen("watching", True, 1)
    await world.do(choices.unblock(BO, ADA))
    assert (await world.inbox("i1"))[BO] == Seen("watching", False, 1)
    assert (await world.inbox("i2"))[BO] == Seen("watching", True, 2)


async def test_W15_a_row_that_stays_after_a_block_shows_the_strongest_reason_left(world: World) -> None:
    await world.do(choices.watch(BO, HARBOR, WatchLevel.ALL))
    await open_in(world, HARBOR, "i1", "hello @bo")
    await world.tell(posts.add_comment("c1", thread="i1", body="by chi", author=CHI))
    assert (await world.inbox("i1"))[BO] == Seen("mentioned", True, 2)
    await world.do(choices.block(BO, ADA))
    assert (await world.inbox("i1"))[BO] == Seen("subscribed", True, 1)
    await world.do(choices.unblock(BO, ADA))
    assert (await world.inbox("i1"))[BO] == Seen("mentioned", True, 2)


async def test_W15_hidden_by_two_causes_stays_hidden_when_one_ends(world: World) -> None:
    await open_in(world, VAULT, "v1")
    await world.do(choices.block(BO, ADA))
    await world.do(members.remove_space_member(VAULT, BO))
    await world.do(choices.unblock(BO, ADA))
    assert await world.inbox("v1") == {}


async def test_W15_a_moved_thread_is_read_by_those_who_read_its_new_space(world: World) -> None:
    await open_in(world, HARBOR, "i1", "@bo @chi")
    await world.tell(threads.move_thread("i1", to=VAULT, actor=ADA))
    assert await world.inbox("i1") == {BO: Seen("mentioned", True, 1)}


async def test_W15_unsubscribing_never_needs_read_access(world: World) -> None:
    await open_in(world, VAULT, "v1")
    await world.do(members.remove_space_member(VAULT, BO))
    await world.do(choices.unsubscribe(BO, await world.thread("v1")))


async def test_I5_what_was_read_before_its_event_was_handled_does_not_become_unread(world: World) -> None:
    await world.do(choices.watch(DARA, HARBOR, WatchLevel.ALL))
    await open_in(world, HARBOR, "i1", "x")
    await world.do(marks.read(DARA, [await world.thread("i1")]))
    await world.do(posts.add_comment("c1", thread="i1", body="y", author=ADA))
    await world.do(reading.read_thread(DARA, "i1"))
    await world.relay.drain()
    assert not (await world.inbox("i1"))[DARA].unread
