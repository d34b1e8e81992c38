"""O7, O9: what was settled long ago is pruned in small batches; types that nobody here knows are named once."""

from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from clarion.store.database import Database, Session
from clarion.work.keeping import PRUNE_BATCH, Keeper
from support.relay_effects import TYPE, Effects, Watch


@pytest.fixture
def watch(database_url: str) -> Iterator[Watch]:
    watch = Watch(database_url)
    watch.prepare()
    yield watch
    watch.close()


async def test_O9_settled_events_go_after_their_time_and_no_others(database: Database, watch: Watch) -> None:
    ids = watch.publish(6)
    for event, state, days in (
        (ids[0], "done", 15),
        (ids[1], "skipped", 15),
        (ids[2], "dropped", 15),
        (ids[3], "set_aside", 15),
        (ids[4], "done", 13),
    ):
        watch.connection.execute(
            "UPDATE clarion.outbox_event SET state = %s, settled_at = now() - make_interval(days => %s) WHERE id = %s",
            [state, days, event],
        )
    keeper = Keeper(database, Effects())
    assert await keeper.prune() == 3
    assert [row[0] for row in watch.rows("SELECT id FROM clarion.outbox_event ORDER BY id")] == ids[3:]
    assert await Keeper(database, Effects(), retention_days=12).prune() == 1
    assert keeper.pruned == 3


async def test_O9_pruning_goes_in_small_batches_each_its_own_transaction(
    database: Database, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.connection.execute(
        "INSERT INTO clarion.outbox_event (type, state, settled_at)"
        " SELECT 'test.happened', 'done', now() - interval '15 days' FROM generate_series(1, %s)",
        [2 * PRUNE_BATCH + 1],
    )
    seen: list[int] = []
    fetch = Session.fetch

    async def spy(session: Session, name: str, /, **params: Any) -> list[dict[str, Any]]:
        if name == "prune_events":
            seen.append(watch.value("SELECT count(*) FROM clarion.outbox_event"))
        return await fetch(session, name, **params)

    monkeypatch.setattr(Session, "fetch", spy)
    assert await Keeper(database, Effects()).prune() == 2 * PRUNE_BATCH + 1
    assert seen == [2 * PRUNE_BATCH + 1, PRUNE_BATCH + 1, 1]


async def test_O11_answers_to_repeated_posts_are_kept_for_a_day(database: Database, watch: Watch) -> None:
    watch.connection.execute(
        "INSERT INTO clarion.request (key, digest, status, body, created_at) VALUES"
        " ('old', sha256(''), 200, '{}', now() - interval '25 hours'),"
        " ('new', sha256(''), 200, '{}', now() - interval '23 hours')"
    )
    await Keeper(database, Effects()).prune()
    assert watch.rows("SELECT key FROM clarion.request") == [("new",)]


async def test_O6_notes_go_once_their_events_are_settled_and_not_before(database: Database, watch: Watch) -> None:
    waits, done = watch.publish(2)
    watch.rows("UPDATE clarion.outbox_event SET state = 'done', settled_at = now() WHERE id = %s RETURNING 1", [done])
    watch.connection.execute(
        "INSERT INTO clarion.relay_note (events, relay, at) VALUES"
        " (%s, 'both', now() - interval '2 hours'), (%s, 'done', now() - interval '2 hours'), (%s, 'new', now())",
        [[waits, done], [done], [done]],
    )
    await Keeper(database, Effects()).prune()
    assert watch.rows("SELECT relay FROM clarion.relay_note ORDER BY id") == [("both",), ("new",)]


async def test_O7_an_unknown_type_is_named_once_with_the_known_ones_and_counted(
    database: Database, watch: Watch
) -> None:
    watch.publish(3, kind="test.new")
    watch.publish(2, kind="test.later", due_in=60)
    watch.publish(2)
    keeper = Keeper(database, Effects())
    with capture_logs() as logs:
        assert await keeper.look_for_unknown_types() == {"test.new": 3}
        watch.publish(1, kind="test.new")
        await keeper.look_for_unknown_types()
    assert keeper.unknown == {"test.new": 4}
    assert [(log["type"], log["count"], log["known"]) for log in logs] == [("test.new", 3, [TYPE])]
