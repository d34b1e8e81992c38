"""What a person chooses to hear: each choice once, under the lock, told alike where it may not be (W5 to W10)."""

from collections.abc import Callable
from typing import Any

import pytest

from clarion.content import members, posts, threads
from clarion.inbox import choices, listing
from clarion.model.errors import Invalid, NotFound
from clarion.model.inbox import WatchLevel
from clarion.store.database import Command
from support.world import ADA, BO, CHI, HARBOR, VAULT, World

ABSENT = 999


async def opened(world: World, space: int = HARBOR, key: str = "i1") -> int:
    await world.tell(threads.open_thread(key, space=space, kind="issue", title="T", body="@bo", author=ADA))
    return await world.thread(key)


CHOICES: list[Callable[[int], Command[Any]]] = [
    lambda thread: choices.subscribe(CHI, thread),
    lambda thread: choices.unsubscribe(CHI, thread),
    lambda _: choices.watch(CHI, HARBOR, WatchLevel.IGNORE),
    lambda _: choices.mute(CHI, ADA),
    lambda _: choices.block(CHI, ADA),
    lambda _: choices.choose(CHI, own=True),
]


@pytest.mark.parametrize("choice", CHOICES)
async def test_I6_a_choice_raises_the_version_by_one_the_first_time_only(
    world: World, choice: Callable[[int], Command[Any]]
) -> None:
    thread = await opened(world)
    before = (await world.do(listing.state(CHI))).version
    first = await world.do(choice(thread))
    assert (first.changed, first.version) == (1, before + 1)
    second = await world.do(choice(thread))
    assert (second.changed, second.version) == (0, before + 1)


async def test_taking_a_choice_back_raises_the_version_and_doing_so_again_does_not(world: World) -> None:
    await world.do(choices.watch(CHI, HARBOR, WatchLevel.ALL))
    await world.do(choices.mute(CHI, ADA))
    await world.do(choices.block(CHI, BO))
    await world.do(choices.choose(CHI, own=True))
    taken: list[Callable[[], Command[Any]]] = [
        lambda: choices.unwatch(CHI, HARBOR),
        lambda: choices.unmute(CHI, ADA),
        lambda: choices.unblock(CHI, BO),
        lambda: choices.choose(CHI, own=False),
    ]
    for version, back in enumerate(taken, 5):
        assert (await world.do(back())).version == version
        assert (await world.do(back())).changed == 0


async def test_W8_subscribing_and_watching_need_read_access_told_like_what_is_not_there(world: World) -> None:
    thread = await opened(world, VAULT)
    for choice in (choices.subscribe(CHI, thread), choices.unsubscribe(CHI, thread)):
        with pytest.raises(NotFound) as hidden:
            await world.do(choice)
        assert str(hidden.value) == f"there is no thread {thread} that you can read"
    for choice in (choices.subscribe(CHI, ABSENT), choices.unsubscribe(CHI, ABSENT)):
        with pytest.raises(NotFound, match=f"there is no thread {ABSENT} that you can read"):
            await world.do(choice)
    for space in (VAULT, ABSENT):
        with pytest.raises(NotFound, match=f"there is no space {space} that you can read"):
            await world.do(choices.watch(CHI, space, WatchLevel.ALL))
    with pytest.raises(NotFound):
        await world.do(choices.find_thread("nowhere"))


async def test_W15_unsubscribing_never_needs_read_access(world: World) -> None:
    thread = await opened(world, VAULT)
    await world.do(members.remove_space_member(VAULT, BO))
    assert (await world.do(choices.unsubscribe(BO, thread))).changed == 1
    with pytest.raises(NotFound):
        await world.do(choices.subscribe(BO, thread))


async def test_W10_an_unsubscribe_is_kept_also_of_one_who_was_not_subscribed_and_subscribing_takes_it_back(
    world: World,
) -> None:
    thread = await opened(world)
    await world.do(choices.watch(CHI, HARBOR, WatchLevel.ALL))
    await world.do(choices.unsubscribe(CHI, thread))
    await world.tell(posts.add_comment("c1", thread="i1", body="one", author=ADA))
    assert CHI not in await world.inbox("i1")
    await world.do(choices.subscribe(CHI, thread))
    await world.tell(posts.add_comment("c2", thread="i1", body="two", author=ADA))
    assert (await world.inbox("i1"))[CHI].reason == "subscribed"


async def test_W4_whoever_opened_a_thread_is_its_author_again_after_subscribing_again(world: World) -> None:
    thread = await opened(world)
    await world.do(choices.unsubscribe(ADA, thread))
    await world.do(choices.subscribe(ADA, thread))
    await world.tell(posts.add_comment("c1", thread="i1", body="one", author=CHI))
    assert (await world.inbox("i1"))[ADA].reason == "author"


@pytest.mark.parametrize("choice", [choices.block, choices.mute])
async def test_a_block_or_a_mute_is_of_somebody_else_who_exists(world: World, choice: Any) -> None:
    with pytest.raises(Invalid, match="yourself"):
        await world.do(choice(CHI, CHI))
    with pytest.raises(NotFound):
        await world.do(choice(CHI, ABSENT))
    assert (await world.do(listing.state(CHI))).version == 0


async def test_F14_a_block_hides_in_both_directions_and_counts_follow_at_once(world: World) -> None:
    await opened(world)
    await world.tell(posts.add_comment("c1", thread="i1", body="hello @ada", author=BO))
    blocked = await world.do(choices.block(BO, ADA))
    assert (blocked.changed, blocked.unread_count) == (1, 0)
    assert await world.inbox("i1") == {}
    await world.do(choices.unblock(BO, ADA))
    assert {person: row.unread for person, row in (await world.inbox("i1")).items()} == {ADA: False, BO: False}


async def test_choices_not_named_stay(world: World) -> None:
    await world.do(choices.choose(CHI, own=True))
    await world.do(choices.choose(CHI, housekeeping=True))
    assert (await world.rows("SELECT own, housekeeping FROM clarion.choice"))[0] == {"own": True, "housekeeping": True}
    assert (await world.do(choices.choose(BO, own=False))).changed == 0
