"""Something is committed while a fan-out is in flight, at each named point of it: nobody is left with what they may
not see, and badges are lists (W8, W12, W15, I2; ENGINE, 2)."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from clarion.content import members, posts, spaces, threads
from clarion.inbox import choices
from clarion.model.inbox import WatchLevel
from clarion.store.database import Command, Database
from support.barriers import POINTS, At, make_relay, wait_until
from support.world import ADA, BO, CHI, DARA, VAULT, World

Change = Callable[[World], Command[Any]]
TOLD = "by ada, for @bo and @chi"
"""In the vault: Bo is named and watches, Chi is named and watches too, Dara may not read it."""


def _block(_: World) -> Command[Any]:
    return choices.block(BO, ADA)


def _be_blocked(_: World) -> Command[Any]:
    return choices.block(ADA, BO)


def _remove(_: World) -> Command[Any]:
    return members.remove_space_member(VAULT, BO)


def _delete_post(_: World) -> Command[Any]:
    return posts.delete_post("c1", actor=ADA)


def _delete_thread(_: World) -> Command[Any]:
    return threads.delete_thread("v1", actor=ADA)


def _move(_: World) -> Command[Any]:
    return threads.move_thread("v1", to=30, actor=ADA)


HIDES: dict[str, Change] = {
    "a block": _block,
    "a block by the author": _be_blocked,
    "a removal from the space": _remove,
    "the post deleted": _delete_post,
    "the thread deleted": _delete_thread,
    "the thread moved": _move,
}


@pytest.fixture
async def world(database: Database) -> World:
    """Bo and Chi read the vault and watch it; a comment of Ada's in it waits to be told."""
    world = World(database)
    await world.settle_in((ADA, BO, CHI))
    await world.do(spaces.add_space(30, name="closed", visibility="private"))
    for person in (BO, CHI):
        await world.do(choices.watch(person, VAULT, WatchLevel.ALL))
    await world.tell(threads.open_thread("v1", space=VAULT, kind="issue", title="T", author=ADA))
    await world.rows("DELETE FROM clarion.notification")
    await world.rows("UPDATE clarion.inbox_state SET unread_count = 0")
    await world.do(posts.add_comment("c1", thread="v1", body=TOLD, author=ADA))
    return world


class Elsewhere:
    """Runs a command in a thread of its own while a relay is stopped, and then a relay of its own."""

    def __init__(self, world: World, change: Callable[[World], Command[Any]]) -> None:
        self.world = world
        self.change = change
        self.done = threading.Event()
        self.failed: list[BaseException] = []
        self.thread = threading.Thread(target=self._run)

    def begin(self) -> None:
        """Begin, and return when it is committed or waits for the relay's locks."""
        self.thread.start()
        wait_until(self.world.database.url, self.done.is_set)

    def end(self) -> None:
        """Wait until it is committed."""
        self.thread.join(60)
        assert self.done.is_set()
        assert not self.failed

    def _run(self) -> None:
        try:
            asyncio.run(self._command())
        except BaseException as error:  # noqa: BLE001 - told by `end`, on the test's own thread
            self.failed.append(error)
        finally:
            self.done.set()

    async def _command(self) -> None:
        database = Database(self.world.database.url)
        session = await database.connect("elsewhere", autocommit=False)
        await session.run(self.change(self.world))
        await session.connection.commit()
        await session.connection.close()
        await make_relay(database).drain()


async def interleave(world: World, point: str, change: Change, *, chunk_people: int = 2000) -> None:
    """Let a relay tell what waits, and commit the change while it is stopped at a point; then go on until idle."""
    elsewhere = Elsewhere(world, change)
    relay = make_relay(world.database, chunk_people=chunk_people, barrier=At(point, elsewhere.begin))
    await relay.drain()
    elsewhere.end()
    await until_idle(world)


async def until_idle(world: World) -> None:
    """Handle what waits, also what was put off because the other relay had its thread."""
    while await world.rows("SELECT id FROM clarion.outbox_event WHERE state = 'waiting'"):
        await world.rows("UPDATE clarion.outbox_event SET available_at = clarion.now() WHERE state = 'waiting'")
        await make_relay(world.database).drain()


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("change", HIDES)
async def test_W15_what_hides_a_thread_hides_it_at_every_point(world: World, point: str, change: str) -> None:
    await interleave(world, point, HIDES[change])
    inbox = await world.inbox("v1")
    assert BO not in inbox
    if change.startswith(("a block", "a removal")):
        assert inbox[CHI].unread


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("chunk_people", [1, 2000])
async def test_W15_a_space_made_private_leaves_nothing_to_those_outside(
    world: World, point: str, chunk_people: int
) -> None:
    await world.do(spaces.set_visibility(VAULT, "public"))
    await world.do(choices.watch(DARA, VAULT, WatchLevel.ALL))
    await interleave(world, point, lambda _: spaces.set_visibility(VAULT, "private"), chunk_people=chunk_people)
    assert set(await world.inbox("v1")) == {BO, CHI}


@pytest.mark.parametrize("point", POINTS)
async def test_W10_an_unsubscribe_is_kept_at_every_point_of_a_fan_out(world: World, point: str) -> None:
    await world.relay.drain()
    await world.do(posts.add_comment("c2", thread="v1", body="for the followers", author=ADA))
    number = await world.thread("v1")
    before = (await world.inbox("v1"))[BO]
    await interleave(world, point, lambda _: choices.unsubscribe(BO, number))
    inbox = await world.inbox("v1")
    told = inbox[BO].posts > before.posts
    assert inbox[CHI].posts == 2
    judged_before = POINTS.index(point) >= POINTS.index("locked")
    assert told == judged_before, "who unsubscribes before they are locked is not told; after that it waited"
    await world.tell(posts.add_comment("c3", thread="v1", body="more", author=ADA))
    assert (await world.inbox("v1"))[BO] == inbox[BO]


@pytest.mark.parametrize("point", POINTS)
async def test_W8_who_is_blocked_before_they_are_judged_hears_nothing_at_all(world: World, point: str) -> None:
    await interleave(world, point, HIDES["a block"])
    rows = await world.rows("SELECT hidden FROM clarion.notification WHERE person = %s", BO)
    early = POINTS.index(point) < POINTS.index("locked")
    assert rows == ([] if early else [{"hidden": True}])


@pytest.mark.parametrize("change", HIDES)
async def test_W8_a_change_under_way_is_waited_for_before_anybody_is_judged(world: World, change: str) -> None:
    url = world.database.url
    session = await world.database.connect("elsewhere", autocommit=False)
    await session.run(HIDES[change](world))
    with ThreadPoolExecutor(1) as elsewhere:
        telling = elsewhere.submit(drain, url)
        wait_until(url, telling.done)
        await session.connection.commit()
        telling.result()
    await session.connection.close()
    await until_idle(world)
    assert BO not in await world.inbox("v1")
    if change.startswith(("a block", "a removal")):
        assert not await world.rows("SELECT hidden FROM clarion.notification WHERE person = %s", BO)


def drain(url: str) -> None:
    asyncio.run(make_relay(Database(url)).drain())
