"""The same idempotency key is one event, and never another, on every kind of connection (O11)."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from clarion.model.errors import Conflict
from clarion.outbox.publish import NewEvent, notify
from clarion.store.database import Command
from conformance.committed import Rows
from conformance.hosts import API, SQL, Host


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


def wait_for_a_blocked_backend(rows: Rows) -> None:
    while not rows("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"):
        pass
