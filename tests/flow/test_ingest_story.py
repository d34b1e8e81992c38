"""The shipped sample, played payload by payload: who hears of what and why, by the rules and nothing else."""

from clarion.cli.demo_story import sample
from clarion.content import RESOLVERS
from clarion.ingest.github import ingest
from clarion.notifier import Notifier
from clarion.store.database import Database
from clarion.work.change import Changes
from clarion.work.relay import Relay
from clarion.work.wake import Wake

CLOCKS, OFFSET, GUIDE, KEY, GLOSSARY, TIDES = "9101#1", "9101#2", "9102#1", "9103#1", "9102#2", "9101#3"

EXPECTED = {
    # Emil opens it and names ada; bo stands in code, chidi in a quote, both in @lumen/maintainers. Bo's
    # assignment was taken back, fen has it now.
    (CLOCKS, "ada"): "mentioned",
    (CLOCKS, "bo"): "team_mentioned",
    (CLOCKS, "chidi"): "team_mentioned",
    (CLOCKS, "emil"): "author",
    (CLOCKS, "fen"): "assigned",
    # Bo opens it, chidi and the team docs (dara, grace) are asked for review, fen and bo are named in reviews.
    # Ada merges it, and follows nothing of it.
    (OFFSET, "bo"): "mentioned",
    (OFFSET, "chidi"): "review_requested",
    (OFFSET, "dara"): "review_requested",
    (OFFSET, "fen"): "mentioned",
    (OFFSET, "grace"): "review_requested",
    # Grace opens it; hana, no member, cannot call the maintainers, and names dara by an edit. Emil was named in
    # a comment that is deleted.
    (GUIDE, "dara"): "mentioned",
    (GUIDE, "grace"): "mentioned",
    (GUIDE, "hana"): "mentioned",
    # Private: emil never reads it, grace did for a while (below).
    (KEY, "ada"): "author",
    (KEY, "bo"): "assigned",
    (KEY, "chidi"): "subscribed",
    # Dara opens it; bo stands in a comment of HTML; ada was asked for review and is asked no more, and follows it.
    (GLOSSARY, "ada"): "subscribed",
    (GLOSSARY, "dara"): "mentioned",
    # Moved to another space, where dara asks emil.
    (TIDES, "emil"): "mentioned",
}
HIDDEN = {(KEY, "grace"): "mentioned"}


async def test_W_the_sample_tells_whom_the_rules_name_and_nobody_else(database: Database) -> None:
    changes, relay = Changes(database, lambda: None), Relay(database, Notifier(RESOLVERS, "bigint"), Wake())
    for name, content in sample():
        await ingest(changes, content, name=name)
        await relay.drain()
    async with database.session() as session:
        heard = await session.fetch("show_everybody")
        (settled,) = await session.fetch("count_settled")
    told = {(row["thread"], row["handle"]): row["reason"] for row in heard if not row["hidden"]}
    hidden = {(row["thread"], row["handle"]): row["reason"] for row in heard if row["hidden"]}
    assert told == EXPECTED
    assert hidden == HIDDEN
    assert all(row["unread"] for row in heard if not row["hidden"])
    assert settled["set_aside"] == 0
    assert relay.tally.failed == {}
