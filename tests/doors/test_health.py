"""Whether it lives, whether it can work, and its numbers."""

from types import SimpleNamespace

import pytest

from clarion.api.metrics import Metrics
from clarion.work.relay import Relay
from clarion.work.wake import Wake
from support.doors import Doors, ok


async def test_it_is_alive_and_ready(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ok(await doors.anybody.get("/healthz")) == {"status": "ok"}
    ready = ok(await doors.anybody.get("/readyz"))
    assert ready == {"status": "ready", "database": "ok", "schema_version": "ok", "relay": "elsewhere"}
    monkeypatch.setattr(doors.engine, "crew", SimpleNamespace(relays=()))
    assert ok(await doors.anybody.get("/readyz"))["relay"] == "here"


async def test_a_schema_of_an_older_release_is_not_ready(doors: Doors) -> None:
    async with doors.engine.database.session() as session:
        await session.connection.execute("DELETE FROM clarion.schema_version WHERE step LIKE '0003%'")
    ready = await doors.anybody.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (503, "not ready")
    assert "0003" in ready.json()["schema_version"]
    assert "clarion migrate" in ready.json()["schema_version"]


async def test_the_numbers_tell_of_the_outbox_the_relays_and_the_requests(
    doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    await doors.people("ada", "bo")
    relay = Relay(doors.engine.database, doors.engine.notifier, Wake())
    monkeypatch.setattr(doors.engine, "crew", SimpleNamespace(relays=(relay,)))
    ok(await doors.host.post("/v1/notify", json={"to": [1, 2], "title": "Ready"}))
    await relay.drain()
    event = {"specversion": "1.0", "id": "1", "source": "s", "type": "never.heard"}
    ok(await doors.host.post("/v1/events", json=event, headers={"Content-Type": "application/cloudevents+json"}))
    text = (await doors.anybody.get("/metrics")).text
    for line in (
        "clarion_database_up 1.0",
        'clarion_outbox_events{state="waiting",type="never.heard"} 1.0',
        'clarion_outbox_unknown_events{type="never.heard"} 1.0',
        'clarion_events_total{outcome="done",type="message.addressed"} 1.0',
        'clarion_notifications_total{reason="addressed"} 2.0',
        'clarion_http_request_seconds_count{method="POST",route="/v1/notify",status="202"} 1.0',
        "clarion_relay_batch_seconds_count",
    ):
        assert line in text, text
    assert 'clarion_outbox_oldest_seconds{state="waiting",type="never.heard"}' in text


async def test_scraping_often_measures_once(doors: Doors) -> None:
    first = (await doors.anybody.get("/metrics")).text
    await doors.people("ada")
    ok(await doors.host.post("/v1/notify", json={"to": [1], "title": "Ready"}))
    assert "message.addressed" not in first
    assert "message.addressed" not in (await doors.anybody.get("/metrics")).text
    assert b"message.addressed" in await Metrics(doors.engine).show()


async def test_the_outbox_is_seen_and_moved_by_hand(doors: Doors) -> None:
    await doors.people("ada")
    event = ok(await doors.host.post("/v1/notify", json={"to": [1], "title": "Ready"}))["event"]
    async with doors.engine.database.session() as session:
        await session.connection.execute(
            "UPDATE clarion.outbox_event SET state = 'set_aside', settled_at = clarion.now(), last_error = 'boom'"
        )
    listed = ok(await doors.host.get("/v1/outbox", params={"state": "set_aside"}))["events"]
    assert [(each["id"], each["last_error"]) for each in listed] == [(event, "boom")]
    assert ok(await doors.host.get(f"/v1/outbox/{event}"))["state"] == "set_aside"
    assert (await doors.host.post("/v1/outbox/retry", json={})).status_code == 422
    assert ok(await doors.host.post("/v1/outbox/drop", json={"error": "other"})) == {"events": []}
    assert ok(await doors.host.post("/v1/outbox/retry", json={"events": [event]})) == {"events": [event]}
    assert ok(await doors.host.post("/v1/outbox/retry", json={"all": True})) == {"events": []}
