"""Two relays on one thread's events, in both orders: the end is the same (O12)."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from clarion.content import posts, roles, threads
from clarion.inbox import choices, marks
from clarion.model.inbox import WatchLevel
from clarion.store.database import Command, Database
from support.barriers import At, make_relay
from support.world import ADA, BO, CHI, DARA, EMIL, HARBOR, VAULT, World

Pair = Callable[[], Sequence[Command[Any]]]


def open_issue(key: str, body: str) -> Command[Any]:
    return threads.open_thread(key, space=HARBOR, kind="issue", title="T", body=body, author=ADA)


def comment(body: str, key: str = "c1", author: int = BO) -> Command[Any]:
    return posts.add_comment(key, thread="i1", body=body, author=author)


def move(to: int, key: str = "i1") -> Command[Any]:
    return threads.move_thread(key, to=to, actor=ADA)


def edit_opening(body: str) -> Command[Any]:
    return threads.edit_thread("i1", body=body, actor=ADA)


def edit(key: str, body: str, actor: int = BO) -> Command[Any]:
    return posts.edit_post(key, body=body, actor=actor)


PAIRS: dict[str, Pair] = {
    "two comments": lambda: [comment("@chi"), comment("@chi @dara", "c2", DARA)],
    "a comment and its edit": lambda: [comment("one @chi"), edit("c1", "two @dara")],
    "a comment and its edit by another": lambda: [comment("one"), edit("c1", "@dara", EMIL)],
    "a comment that names a follower and its edit": lambda: [comment("@ada"), edit("c1", "@ada!")],
    "a comment and its deletion": lambda: [comment("@chi"), posts.delete_post("c1", actor=BO)],
    "a comment and the thread's deletion": lambda: [comment("@chi"), threads.delete_thread("i1", actor=ADA)],
    "a comment and a move": lambda: [comment("@chi @bo"), move(VAULT)],
    "a move and a comment": lambda: [move(VAULT), comment("@chi @bo")],
    "an edit and a move": lambda: [edit_opening("@chi @bo"), move(VAULT)],
    "two moves": lambda: [move(VAULT), move(HARBOR)],
    "two edits": lambda: [edit_opening("@bo"), edit_opening("@dara")],
    "an edit and a deletion": lambda: [edit("old", "@dara"), posts.delete_post("old", actor=BO)],
    "an assignment taken back": lambda: [roles.assign("i1", [CHI], actor=ADA), roles.unassign("i1", [CHI], actor=ADA)],
    "an assignment given twice": lambda: [
        roles.unassign("i1", [EMIL], actor=ADA),
        roles.assign("i1", [EMIL], actor=BO),
    ],
    "closed and opened again": lambda: [threads.close_thread("i1", actor=BO), threads.reopen_thread("i1", actor=BO)],
    "a close and a comment": lambda: [threads.close_thread("i1", actor=BO), comment("@chi")],
    "a close and a deletion": lambda: [threads.close_thread("i1", actor=BO), threads.delete_thread("i1", actor=BO)],
    "a deletion and a comment": lambda: [posts.delete_post("old", actor=BO), comment("@chi", "c2")],
    "opened and commented": lambda: [
        open_issue("i2", "@chi"),
        posts.add_comment("c2", thread="i2", body="x", author=BO),
    ],
    "opened and closed": lambda: [open_issue("i2", "@chi"), threads.close_thread("i2", actor=BO)],
    "opened and deleted": lambda: [open_issue("i2", "@chi"), threads.delete_thread("i2", actor=ADA)],
    "opened and moved": lambda: [open_issue("i2", "@chi"), move(VAULT, "i2")],
    "opened and assigned": lambda: [open_issue("i2", "x"), roles.assign("i2", [CHI], actor=BO)],
    "a mention and what follows it": lambda: [comment("@dara"), comment("x", "c2", EMIL)],
    "an edit that names and what came before it": lambda: [comment("x", "c2", EMIL), edit_opening("@dara")],
    "an edit that names and what follows it": lambda: [edit_opening("@dara"), comment("x", "c2", EMIL)],
}

IN_ONE_ORDER = frozenset({
    "two comments", "a close and a comment", "opened and commented", "opened and closed",
    "a mention and what follows it", "an edit that names and what follows it",
    "an edit that names and what came before it",
    "a comment that names a follower and its edit",
})  # fmt: skip
"""Where the first subscribes somebody, the second comes after it, as long as the first has not failed."""


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("read", [False, True], ids=["unread before", "read before"])
async def test_O12_F50_the_order_of_two_events_does_not_change_the_end(
    database: Database, name: str, read: bool
) -> None:
    """In order, in one batch, on two relays of which the second is faster, turned round where nothing hinders it."""
    world = World(database)
    await world.settle_in()
    ends = {}
    for order in (in_order, together, overtaking, turned_round)[: 3 if name in IN_ONE_ORDER else 4]:
        await world.rows("TRUNCATE clarion.thread, clarion.content_thread, clarion.outbox_event, clarion.watch CASCADE")
        await world.rows("UPDATE clarion.inbox_state SET version = 0, unread_count = 0, read_seq = 0, seen_seq = 0")
        await start(world, read=read)
        for command in PAIRS[name]():
            await world.do(command)
        await order(world)
        ends[order.__name__] = await end(world)
        await world.tell(*(await probes(world)))
        ends[order.__name__] += await end(world)
    assert all(each == ends["in_order"] for each in ends.values()), ends


async def in_order(world: World) -> None:
    while await world.rows("SELECT 1 FROM clarion.outbox_event WHERE state = 'waiting'"):
        await make_relay(world.database, batch=1).drain()


async def together(world: World) -> None:
    await make_relay(world.database).drain()


def drain(world: World) -> None:
    asyncio.run(make_relay(world.database).drain())


async def overtaking(world: World) -> None:
    """The relay that holds the first event is stopped before it has locked anything else."""
    with ThreadPoolExecutor(1) as elsewhere:
        at = At("noted", lambda: elsewhere.submit(drain, world).result())
        await make_relay(world.database, batch=1, barrier=at).drain()
    await in_order_of_due(world)


async def turned_round(world: World) -> None:
    """The first event becomes due when the second is done."""
    put_off = "UPDATE clarion.outbox_event SET available_at = now() + interval '1 hour' WHERE id ="
    await world.rows(f"{put_off} (SELECT min(id) FROM clarion.outbox_event WHERE state = 'waiting')")
    await make_relay(world.database).drain()
    await in_order_of_due(world)


async def in_order_of_due(world: World) -> None:
    while await world.rows("SELECT 1 FROM clarion.outbox_event WHERE state = 'waiting'"):
        await world.rows("UPDATE clarion.outbox_event SET available_at = now() WHERE state = 'waiting'")
        await make_relay(world.database).drain()


SEEN = """
SELECT t.key, n.person, n.reason::text, clarion.is_unread(n, s.read_seq) AS unread, n.hidden,
       CASE WHEN clarion.is_unread(n, s.read_seq) THEN
           ARRAY(SELECT CASE WHEN p.key LIKE 'event:%%' THEN p.kind ELSE p.key END
                 FROM clarion.shown_posts(n) p ORDER BY 1) END
FROM clarion.notification n JOIN clarion.thread t ON t.id = n.thread JOIN clarion.inbox_state s USING (person)
ORDER BY 1, 2
"""


async def start(world: World, *, read: bool) -> None:
    """Ada's issue, with a comment of Bo's; Emil is assigned, and Chi watches."""
    await world.do(choices.watch(CHI, HARBOR, WatchLevel.ALL))
    await world.tell(open_issue("i1", "by ada"))
    await world.tell(
        posts.add_comment("old", thread="i1", body="@emil", author=BO), roles.assign("i1", [EMIL], actor=BO)
    )
    if read:
        for person in (ADA, BO, CHI, DARA, EMIL):
            await world.do(marks.read(person, [await world.thread("i1")]))


async def end(world: World) -> list[object]:
    """What everybody has of every thread, by what they can see of it."""
    await world.check()
    return [tuple(row.values()) for row in await world.rows(SEEN)]


async def probes(world: World) -> list[Command[Any]]:
    """Commands after which a difference in what is kept would be a difference in what is seen."""
    living = await world.rows(
        "SELECT p.key FROM clarion.content_post p JOIN clarion.content_thread t ON t.id = p.thread"
        " WHERE p.deleted_at IS NULL AND t.deleted_at IS NULL ORDER BY p.id"
    )
    return [posts.edit_post(row["key"], body="nobody", actor=ADA) for row in living]
