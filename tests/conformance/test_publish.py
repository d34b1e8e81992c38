"""Publishing on every kind of connection, one suite (O1, O2, O11)."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from clarion.model.errors import AutocommitRefused, ClarionError, Conflict, Invalid, TooLarge, WrongKey
from clarion.outbox.publish import KeyTypes, NewEvent, notify, publish, publish_many
from clarion.store.connect import run
from clarion.store.database import Command
from clarion.store.migrate import migrate
from clarion.store.queries import Queries, ask
from conformance.hosts import API, SQL, Host

Rows = Callable[..., list[dict[str, Any]]]

EVENT = NewEvent(type="comment.created", keys={"comment_id": 5}, actor=7, thread="issue:12", post="comment:5", space=3)


@pytest.fixture
def rows(database_url: str) -> Rows:
    """Reads on a connection of its own: what others see."""

    def read(query: str = "SELECT * FROM clarion.outbox_event ORDER BY id") -> list[dict[str, Any]]:
        with psycopg.connect(database_url, row_factory=dict_row) as connection:
            return connection.execute(query.encode()).fetchall()

    return read


@pytest.fixture(params=API | SQL)
async def host(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Host]:
    """A host of every kind in a transaction."""
    async with (API | SQL)[request.param](database_url) as host:
        yield host


@pytest.fixture(params=[*API, "SQL function"])
async def function_host(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Host]:
    """A host of every kind that calls the function, by our API or by itself."""
    async with (API | SQL)[request.param](database_url) as host:
        yield host


@pytest.fixture(params=API)
async def api_host(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Host]:
    """A host of every kind that our Python API takes."""
    async with API[request.param](database_url) as host:
        yield host


# The caller's transaction (O1)


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


# What an event may hold (O2, K2)


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


async def test_K2_keys_take_8192_bytes_as_the_database_writes_them(host: Host, rows: Rows) -> None:
    most = {"k": "x" + "é" * 4086, "n": [1]}
    assert len(json.dumps(most, ensure_ascii=False).encode()) == 8192
    await host.publish(NewEvent(type="a.b", keys=most))
    await host.commit()
    assert rows("SELECT octet_length(keys::text) AS size FROM clarion.outbox_event") == [{"size": 8192}]
    with host.refused(TooLarge):
        await host.publish(NewEvent(type="a.b", keys=most | {"n": [10]}))


@pytest.mark.parametrize(
    "event",
    [
        NewEvent(type="Comment.created"),
        NewEvent(type="comment"),
        NewEvent(type="comment.créated"),
        NewEvent(type="comment.created\n"),
        NewEvent(type="a." + "b" * 99),
        NewEvent(type="a.b", keys=[1]),  # type: ignore[arg-type]
        NewEvent(type="a.b", thread=""),
        NewEvent(type="a.b", thread="x" * 201),
        NewEvent(type="a.b", thread="x", post="x" * 201),
        NewEvent(type="a.b", post="x"),
        NewEvent(type="a.b", idempotency_key=""),
        NewEvent(type="a.b", source="x" * 201),
    ],
)
async def test_O11_what_is_not_of_its_form_is_refused(event: NewEvent, database_url: str, rows: Rows) -> None:
    for opener in (API | SQL).values():
        async with opener(database_url) as host:
            with host.refused(Invalid):
                await host.publish(event)
            await host.rollback()
    assert rows() == []


async def test_O2_a_deletion_names_its_thread(host: Host, rows: Rows) -> None:
    await host.publish(NewEvent(type="comment.deleted", thread="issue:12", post="comment:5"))
    await host.commit()
    with host.refused(Invalid):
        await host.publish(NewEvent(type="comment.deleted", keys={"comment_id": 5}))
    assert [row["thread_key"] for row in rows()] == ["issue:12"]


async def test_K1_a_key_of_another_type_is_refused(host: Host) -> None:
    for event in (
        NewEvent(type="a.b", actor="ada"),
        NewEvent(type="a.b", space="main"),
        NewEvent(type="a.b", actor="7.5"),
    ):
        with host.refused(WrongKey):
            await host.publish(event)
        await host.rollback()


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


# The same twice (O11)


async def test_O11_the_same_key_twice_is_one_event(function_host: Host, rows: Rows) -> None:
    event = NewEvent(type="a.b", keys={"x": 1, "y": [2]}, actor=7, idempotency_key="once", source="app")
    first = await function_host.publish(event)
    await function_host.commit()
    assert await function_host.publish(event) == first
    await function_host.commit()
    assert [row["id"] for row in rows()] == [first]

    assert await function_host.publish(NewEvent(type="a.b", idempotency_key="once", source="other app")) != first


@pytest.mark.parametrize("change", [{"type": "a.c"}, {"keys": {"x": 2}}, {"actor": 8}, {"thread": "t"}, {"space": 3}])
async def test_O11_the_same_key_with_other_content_is_a_conflict(
    change: dict[str, Any], database_url: str, rows: Rows
) -> None:
    event = NewEvent(type="a.b", keys={"x": 1}, actor=7, idempotency_key="once")
    for name, opener in (API | SQL).items():
        async with opener(database_url) as host:
            if not rows():
                await host.publish(event)
                await host.commit()
            with host.refused(Conflict):
                await host.publish(replace(event, **change))
            await host.rollback()
            assert len(rows()) == 1, name


async def test_O11_two_transactions_with_one_key_make_one_event(database_url: str, rows: Rows) -> None:
    event = NewEvent(type="a.b", idempotency_key="once", available_at=datetime(2030, 1, 1, tzinfo=UTC))
    async with API["psycopg async"](database_url) as first, API["asyncpg"](database_url) as second:
        published = await first.publish(event)
        waiting = asyncio.create_task(second.publish(replace(event, available_at=None)))
        await asyncio.to_thread(wait_for_a_blocked_backend, rows)
        await first.commit()
        assert await waiting == published
        await second.commit()
    assert len(rows()) == 1


# Many, and notify


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


async def test_O11_many_events_are_refused_together(api_host: Host) -> None:
    with pytest.raises(Invalid, match="no idempotency_key"):
        await api_host.run(publish_many([EVENT, replace(EVENT, idempotency_key="x")]))
    with pytest.raises(TooLarge):
        await api_host.run(publish_many([EVENT, NewEvent(type="a.b", keys={"x": "x" * 9000})]))
    await api_host.execute("SELECT 'still well'")
    with pytest.raises(WrongKey, match="'ada' is no person key"):
        await api_host.run(publish_many([EVENT, replace(EVENT, actor="ada")]))


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


async def test_O11_notify_twice_is_one_message_and_never_another(api_host: Host, rows: Rows) -> None:
    def message(**changes: Any) -> Command[int]:
        return notify(**{"to": [7, 8], "title": "Ready", "idempotency_key": "export:3"} | changes)

    first = await api_host.run(message())
    await api_host.commit()
    assert await api_host.run(message(to=["08", 7])) == first
    await api_host.commit()
    for change in ({"to": [7]}, {"title": "Late"}, {"link": "/"}, {"body": "x"}, {"kind": "late"}, {"actor": 1}):
        with pytest.raises(Conflict, match="export:3"):
            await api_host.run(message(**change))
        await api_host.rollback()
    assert len(rows()) == len(rows("SELECT * FROM clarion.content_thread")) == 1


# What the database itself refuses is told alike, and what is found before leaves the transaction as it was


async def test_refusals_of_the_database_are_errors_of_ours(api_host: Host) -> None:
    def unchecked(**wrong: Any) -> Command[None]:
        params = dict.fromkeys(NewEvent.__slots__) | {"type": "a.b", "keys": "{}"}
        yield ask("publish_event", **params | wrong)

    for error, wrong in (
        (TooLarge, {"keys": f'{{"x": "{"x" * 8192}"}}'}),
        (Invalid, {"keys": "[]"}),
        (Invalid, {"keys": "{"}),
        (Invalid, {"keys": '{"a":' * 33 + "1" + "}" * 33}),
        (Invalid, {"keys": None}),
        (Invalid, {"type": None}),
        (Invalid, {"type": "A"}),
        (Invalid, {"type": "a.deleted"}),
        (Invalid, {"post": "p"}),
        (Invalid, {"thread": ""}),
        (Invalid, {"available_at": datetime(1066, 1, 1, tzinfo=UTC)}),
        (WrongKey, {"actor": "ada"}),
        (WrongKey, {"actor": "9223372036854775808"}),
        (WrongKey, {"space": ""}),
    ):
        with pytest.raises(error) as raised:
            await api_host.run(unchecked(**wrong))
        assert type(raised.value) is error, wrong
        assert raised.value.__cause__ is not None
        await api_host.rollback()
    with pytest.raises(WrongKey, match="'ada' is no person key: this schema was made for keys of type bigint"):
        await api_host.run(unchecked(actor="ada"))


async def test_O1_what_is_wrong_with_a_call_leaves_the_transaction_as_it_was(api_host: Host, rows: Rows) -> None:
    await api_host.publish(EVENT)
    types = KeyTypes("bigint", "bigint")
    wrong: list[Command[Any]] = [
        publish(NewEvent(type="a.b", keys={"x": "x" * 9000})),
        publish(NewEvent(type="a.b", keys={"x": {1, 2}})),
        publish(NewEvent(type="a.b", keys={"x": "\0"})),
        publish(NewEvent(type="a.b", keys={"x": "\ud800"})),
        publish(NewEvent(type="a.b", thread="\0")),
        publish(NewEvent(type="a.b", thread=12)),  # type: ignore[arg-type]
        publish(NewEvent(type="a.b", available_at=datetime(2030, 1, 1))),  # noqa: DTZ001
        publish(NewEvent(type="a.deleted")),
        publish(NewEvent(type="a.b", actor="ada"), types),
        publish(NewEvent(type="a.b", space=uuid4()), types),
        notify([], title="x"),
        notify("78", title="x"),
        notify([7, None], title="x"),  # type: ignore[list-item]
        notify([7], title=""),
        notify([7], title="x", kind="Not a kind"),
        notify([7], title="x" * 1001),
        notify([7], title="x", body="é" * 32769),
        notify(["ada"], title="x", types=types),
    ]
    for command in wrong:
        with pytest.raises((Invalid, TooLarge, WrongKey)):
            await api_host.run(command)
    await api_host.execute("SELECT 'still well'")
    await api_host.commit()
    assert len(rows()) == 1


def wait_for_a_blocked_backend(rows: Rows) -> None:
    while not rows("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"):
        pass
