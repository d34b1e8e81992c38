"""Publishing in the host's own transaction, on every kind of connection (O1, O2)."""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from clarion.model.errors import AutocommitRefused, ClarionError, WrongKey
from clarion.outbox.publish import NewEvent, notify, publish, publish_many
from clarion.store.connect import run
from clarion.store.migrate import migrate
from clarion.store.queries import Queries
from conformance.committed import EVENT, Rows
from conformance.hosts import API, Host


async def test_O1_a_commit_shows_the_change_and_its_event(host: Host, rows: Rows) -> None:
    await host.execute("INSERT INTO change VALUES ('made')")
    event = await host.publish(EVENT)
    assert rows() == []
    await host.commit()

    assert rows("SELECT * FROM change") == [{"note": "made"}]
    [row] = rows()
    assert (row["id"], row["type"], row["keys"]) == (event, "comment.created", {"comment_id": 5})
    assert (row["actor"], row["thread_key"], row["post_key"], row["space"]) == (7, "issue:12", "comment:5", 3)
    assert (row["state"], row["consumer"], row["source"]) == ("waiting", "notifier", "")


async def test_O1_a_rollback_takes_both_back(host: Host, rows: Rows) -> None:
    await host.execute("INSERT INTO change VALUES ('made')")
    await host.publish(EVENT)
    await host.rollback()
    assert rows() == rows("SELECT * FROM change") == []


async def test_O1_a_savepoint_rolled_back_takes_its_event_along(host: Host, rows: Rows) -> None:
    await host.execute("INSERT INTO change VALUES ('kept')")
    with suppress(ZeroDivisionError):
        async with host.savepoint():
            await host.publish(EVENT)
            raise ZeroDivisionError
    async with host.savepoint():
        kept = await host.publish(EVENT)
    await host.commit()
    assert [row["id"] for row in rows()] == [kept]
    assert rows("SELECT * FROM change") == [{"note": "kept"}]


async def test_O1_a_failed_transaction_stays_failed_and_says_so(host: Host, rows: Rows) -> None:
    with pytest.raises(Exception, match="does_not_exist"):
        await host.execute("SELECT does_not_exist")
    with pytest.raises(Exception, match="current transaction is aborted") as refused:
        await host.publish(EVENT)
    assert not isinstance(refused.value, ClarionError)
    await host.rollback()
    assert rows() == []


async def test_O1_publishing_is_one_statement_in_the_transaction_that_is_open(host: Host) -> None:
    await host.execute("SELECT 1")
    await host.log_statements()
    await host.execute("SELECT 'before'")
    before = len(host.logged())
    assert await host.in_transaction()
    await host.publish(EVENT)
    assert await host.in_transaction()
    await host.execute("SELECT 'after'")
    ours, after = host.logged()
    assert before == 1
    assert "clarion." in ours
    assert "'after'" in after


@pytest.mark.parametrize("kind", API)
async def test_O1_a_connection_in_autocommit_is_refused(kind: str, database_url: str, rows: Rows) -> None:
    async with API[kind](database_url, autocommit=True) as host:
        with pytest.raises(AutocommitRefused, match="inside the transaction"):
            await host.publish(EVENT)
        await host.execute("SELECT 1")
    assert rows() == []


async def test_O2_a_text_of_any_script_arrives_as_it_is(host: Host, rows: Rows) -> None:
    keys: dict[str, Any] = {
        "grüße 🎉": 'さん "%(name)s" 100%% :x ::y \\ \n \x7f',
        "list": [1, 0.5, None, True, {"a": {}}],
    }
    await host.publish(
        NewEvent(type="chat.said", keys=keys, thread="日本 %s :1 $1", idempotency_key="ключ", source="ñ")
    )
    await host.commit()
    [row] = rows()
    assert row["keys"] == keys
    assert (row["thread_key"], row["idempotency_key"], row["source"]) == ("日本 %s :1 $1", "ключ", "ñ")


async def test_O1_many_events_are_one_statement_in_order(api_host: Host, rows: Rows) -> None:
    due = datetime(2030, 1, 1, tzinfo=UTC)
    await api_host.log_statements()
    await api_host.execute("SELECT 1")
    api_host.logged()
    events = [NewEvent(type="a.b", keys={"n": n, "ü%": "'"}, actor=n if n % 2 else None) for n in range(100)]
    ids = await api_host.run(publish_many([*events, replace(EVENT, available_at=due)]))
    assert await api_host.run(publish_many([])) == []
    await api_host.execute("SELECT 2")
    assert len(api_host.logged()) == 2
    await api_host.commit()

    written = rows()
    assert [row["id"] for row in written] == ids
    assert [row["keys"].get("n") for row in written] == [*range(100), None]
    assert written[-1]["available_at"] == due
    assert (written[-1]["space"], written[-1]["thread_key"]) == (3, "issue:12")


async def test_O1_notify_writes_a_message_and_its_event(api_host: Host, rows: Rows) -> None:
    message: dict[str, Any] = {
        "kind": "export.ready",
        "title": "Your export is ready 🎉",
        "link": "/exports/3",
        "body": "100 %",
    }
    await api_host.log_statements()
    event = await api_host.run(notify([7, "8", 7], actor=1, **message))
    assert len(api_host.logged()) == 1
    assert rows() == []
    await api_host.commit()

    [row] = rows()
    assert (row["id"], row["type"], row["actor"], row["keys"]) == (
        event,
        "message.addressed",
        1,
        {"kind": "export.ready"},
    )
    assert row["thread_key"] == row["post_key"]
    [thread] = rows("SELECT t.*, p.body FROM clarion.content_thread t JOIN clarion.content_post p ON p.thread = t.id")
    assert thread | message == thread | {"kind": "export.ready"}
    people = rows("SELECT person, role::text FROM clarion.thread_role ORDER BY person")
    assert people == [{"person": 7, "role": "addressed"}, {"person": 8, "role": "addressed"}]


def test_K1_a_schema_of_another_name_and_other_key_types(database_url: str) -> None:
    migrate(database_url, schema="tenant", person_key="uuid", space_key="text")
    queries = Queries("tenant")
    ada = uuid4()
    with psycopg.connect(database_url) as connection:
        run(connection, queries, publish(NewEvent(type="a.b", actor=ada, space="main")))
        run(connection, queries, publish_many([NewEvent(type="a.b", actor=ada.hex, space="7")]))
        run(connection, queries, notify([ada], title="Ready"))
        rows = connection.execute("SELECT actor, space FROM tenant.outbox_event ORDER BY id").fetchall()
        assert rows == [(ada, "main"), (ada, "7"), (None, None)]
        with pytest.raises(WrongKey, match=r"'7' is no person key: .* type uuid \(CLARION_PERSON_KEY\)"):
            run(connection, queries, publish(NewEvent(type="a.b", actor=7)))
