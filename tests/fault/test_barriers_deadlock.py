"""Eight relays and two doors on the same people and threads: one lock order, no deadlock (ENGINE, 2)."""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any

from clarion.content import members, posts, roles, spaces, threads
from clarion.inbox import choices, mark_all, marks, reading
from clarion.model.inbox import WatchLevel
from clarion.store.database import Command, Database
from support.barriers import make_relay
from support.world import ADA, BO, CHI, DARA, EMIL, HARBOR, VAULT, World

EVERYBODY = (ADA, BO, CHI, DARA, EMIL)
THREADS = ("i1", "i2", "v1", "v2")
RELAYS = 8
COMMENTS = 150
COMMANDS = 200


async def test_no_deadlock_between_eight_relays_and_two_doors(database: Database) -> None:
    world = World(database)
    await world.settle_in(EVERYBODY)
    for person in EVERYBODY:
        await world.do(members.add_space_member(HARBOR, person))
        for space in (HARBOR, VAULT):
            await world.do(choices.watch(person, space, WatchLevel.ALL))
    for key in THREADS:
        space = HARBOR if key.startswith("i") else VAULT
        await world.tell(threads.open_thread(key, space=space, kind="issue", title="T", body="@bo @emil", author=ADA))
    numbers = [await world.thread(key) for key in THREADS]
    before = await deadlocks(world)
    relays = [make_relay(database, batch=5, chunk_people=3) for _ in range(RELAYS)]
    running = [asyncio.create_task(relay.run()) for relay in relays]
    await asyncio.gather(
        write(world, Random(1)),  # noqa: S311 - the same run each time
        use(world, numbers, Random(2)),  # noqa: S311
        use(world, numbers, Random(3)),  # noqa: S311
    )
    for relay in relays:
        relay.stop()
    await asyncio.gather(*running)
    await make_relay(database).drain()
    assert await deadlocks(world) == before
    await world.check()
    assert not await world.rows("SELECT id FROM clarion.outbox_event WHERE state = 'waiting'")
    assert not [failed for relay in relays for failed in relay.tally.failed]


async def write(world: World, random: Random) -> None:
    """The host's content: comments for everybody, edits, deletions, roles."""
    keys = [f"c{number}" for number in range(COMMENTS)]
    for number, key in enumerate(keys):
        thread = random.choice(THREADS)
        await world.do(posts.add_comment(key, thread=thread, body="@ada @emil", author=random.choice(EVERYBODY)))
        match number % 5:
            case 1:
                await world.do(posts.edit_post(key, body="@chi @dara", actor=ADA))
            case 2:
                await world.do(posts.delete_post(random.choice(keys[:number]), actor=BO))
            case 3:
                await world.do(roles.assign(thread, [random.choice(EVERYBODY)], actor=CHI))
            case 4:
                await world.do(threads.move_thread(thread, to=random.choice((HARBOR, VAULT)), actor=ADA))


async def use(world: World, numbers: list[int], random: Random) -> None:
    """A door: what people do, and what is done to their rights; each a transaction of its own."""
    for step in range(COMMANDS):
        person, other = random.sample(EVERYBODY, 2)
        if step % 10:
            await world.do(of_people(person, other, numbers, random))
        else:
            await world.do(spaces.set_visibility(HARBOR, random.choice(("public", "private"))))


def of_people(person: int, other: int, numbers: list[int], random: Random) -> Command[Any]:
    some = random.sample(numbers, 2)
    commands: list[Callable[[], Command[Any]]] = [
        lambda: marks.read(person, some),
        lambda: marks.unread(person, some),
        lambda: marks.done(person, some),
        lambda: marks.save(person, some),
        lambda: reading.read_thread(person, random.choice(THREADS)),
        lambda: mark_all.mark_all(person, 0),
        lambda: choices.block(person, other),
        lambda: choices.unblock(person, other),
        lambda: choices.unsubscribe(person, some[0]),
        lambda: choices.watch(person, HARBOR, random.choice((WatchLevel.ALL, WatchLevel.IGNORE))),
        lambda: members.add_space_member(VAULT, person, role=random.choice(("read", "write"))),
    ]
    return random.choice(commands)()


async def deadlocks(world: World) -> int:
    """How many the server has met in this database; a backend reports them when it is asked to, or ends."""
    await world.rows("SELECT pg_stat_force_next_flush()")
    rows = await world.rows("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    return int(rows[0]["deadlocks"])
