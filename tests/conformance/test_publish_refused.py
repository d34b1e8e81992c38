"""What may not be published, and what a refusal leaves behind, on every kind of connection (O2, O11, K1, K2)."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from clarion.model.errors import Invalid, TooLarge, WrongKey
from clarion.outbox.publish import KeyTypes, NewEvent, notify, publish, publish_many
from clarion.store.database import Command
from clarion.store.queries import ask
from conformance.committed import EVENT, Rows
from conformance.hosts import API, SQL, Host


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


async def test_O11_many_events_are_refused_together(api_host: Host) -> None:
    with pytest.raises(Invalid, match="no idempotency_key"):
        await api_host.run(publish_many([EVENT, replace(EVENT, idempotency_key="x")]))
    with pytest.raises(TooLarge):
        await api_host.run(publish_many([EVENT, NewEvent(type="a.b", keys={"x": "x" * 9000})]))
    await api_host.execute("SELECT 'still well'")
    with pytest.raises(WrongKey, match="'ada' is no person key"):
        await api_host.run(publish_many([EVENT, replace(EVENT, actor="ada")]))


async def test_refusals_of_the_database_are_errors_of_ours(api_host: Host) -> None:
    def unchecked(**wrong: Any) -> Command[None]:
        params = dict.fromkeys(NewEvent.__slots__) | {"type": "a.b", "keys": "{}"}
        yield ask("publish_event", **params | wrong)

    for error, wrong in (
        (TooLarge, {"keys": f'{{"x": "{"x" * 8192}"}}'}),
        (Invalid, {"keys": "[]"}),
        (Invalid, {"keys": "{"}),
        (Invalid, {"keys": '{"a":' * 33 + "1" + "}" * 33}),
        (Invalid, {"keys": '{"a": 1e5000}'}),
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
