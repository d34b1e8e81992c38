"""P13: pages, badge and mark-all of somebody with a million rows, beside somebody with a thousand."""

import time
from collections.abc import Callable
from typing import Any

from bench.figures import Figure, Goal, interleave
from bench.ground import Ground, run, tidy
from bench.watching import WatchedDatabase
from clarion.inbox.listing import list_rows, state
from clarion.inbox.mark_all import mark_all
from clarion.model.inbox import Tab
from clarion.store.database import Command, Session

MANY, FEW, UNREAD = 1_000_000, 1_000, 20
"""Rows of the one, of the other, and how many are unread among those that both read one by one."""
BIG, SMALL = 1, 2
ROUNDS = 31


async def seed(database: WatchedDatabase) -> None:
    await run(
        database,
        "INSERT INTO clarion.content_space (id, name, visibility) VALUES (1, 'space', 'public')",
        "INSERT INTO clarion.space (id) VALUES (1)",
        "INSERT INTO clarion.person (id, handle, handle_folded)"
        " SELECT i, 'person' || i, 'person' || i FROM generate_series(0, 1000) i",
        "INSERT INTO clarion.thread (key, space, title, link, head)"
        f" SELECT 'thread:' || i, 1, 'A title', '/thread/' || i, 1 FROM generate_series(1, {MANY}) i",
        "INSERT INTO clarion.post (thread, position, key, kind, author, announced)"
        " SELECT id, 1, 'post:' || id, 'comment', 0, true FROM clarion.thread ORDER BY id",
    )
    for person, rows in ((BIG, MANY), (SMALL, FEW)):
        await run(
            database,
            f"INSERT INTO clarion.inbox_state (person, version, unread_count) VALUES ({person}, {rows}, {UNREAD})",
            "INSERT INTO clarion.notification (thread, person, seq, reason, bulk, first_unread, last, read_at)"
            f" SELECT id, {person}, row_number() OVER (ORDER BY id), 'watching', 'watching', 1, 1,"
            f" CASE WHEN mod(id, {rows // UNREAD}) <> 0 THEN now() END"
            f" FROM (SELECT id FROM clarion.thread ORDER BY id LIMIT {rows}) t",
        )
    await tidy(database)


async def read_inboxes(ground: Ground) -> list[Figure]:
    async with ground.database() as database:
        await seed(database)
        session = await database.connect("inbox", autocommit=False)
        async with session.connection:
            return [
                await beside(session, what, command)
                for what, command in (
                    ("page of 100", lambda person, _: list_rows(person, tab=Tab.ALL)),
                    (f"unread page, {UNREAD} unread", lambda person, _: list_rows(person, tab=Tab.UNREAD)),
                    ("badge", lambda person, _: state(person)),
                    ("mark all, newest cutoff", mark_all),
                )
            ]


async def beside(session: Session, what: str, command: Callable[[int, int], Command[Any]]) -> Figure:
    """Run a command for both, each time undone, so that each run finds the same."""

    async def timed(person: int, rows: int) -> float:
        async with session.connection.transaction(force_rollback=True):
            started = time.perf_counter()
            await session.run(command(person, rows))
            return time.perf_counter() - started

    await interleave(6, lambda: timed(BIG, MANY), lambda: timed(SMALL, FEW))
    pairs = await interleave(ROUNDS, lambda: timed(BIG, MANY), lambda: timed(SMALL, FEW))
    return Figure(
        case="P13",
        what=f"{what}: {MANY:,} rows beside {FEW:,}",
        unit="ms",
        ours=pairs.median(0) * 1000,
        baseline=pairs.median(1) * 1000,
        ratio=1 / pairs.speed(0, 1),
        goal=Goal(2.0, at_most=True),
    )
