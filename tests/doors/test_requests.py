"""What is refused, how it is told, and what is done once however often it is sent."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from clarion.api import door
from clarion.api.middleware import MAX_BODY_BYTES
from support.doors import Doors, ok, problem

EVENT = {"specversion": "1.0", "id": "1", "source": "shop", "type": "order.paid", "data": {"order": 7}}
STRUCTURED = {"Content-Type": "application/cloudevents+json"}


@pytest.mark.parametrize(
    ("body", "status", "code", "named"),
    [
        ({"space": 10, "kind": "bug", "title": "t"}, 422, "invalid", "kind: Input should be 'issue'"),
        ({"space": 10, "kind": "issue"}, 422, "invalid", "title: Field required"),
        ({"space": 10, "kind": "issue", "title": "t", "colour": 1}, 422, "invalid", "colour: Extra inputs"),
        ({"space": True, "kind": "issue", "title": "t"}, 422, "invalid", "space"),
        ({"space": 10, "kind": "issue", "title": "a\0b"}, 422, "invalid", "title: a NUL"),
        ({"space": 10, "kind": "issue", "title": "t", "at": "0001-01-01T00:00:00Z"}, 422, "invalid", "at: an instant"),
        ({"space": 10, "kind": "issue", "title": "t", "at": "2020-01-01T00:00:00"}, 422, "invalid", "at: Input"),
        ({"space": "x", "kind": "issue", "title": "t"}, 422, "wrong_key", "bigint"),
        ({"space": "9" * 5000, "kind": "issue", "title": "t"}, 422, "invalid", "space"),
        ({"space": 10**30, "kind": "issue", "title": "t"}, 422, "wrong_key", "bigint"),
        ({"space": 99, "kind": "issue", "title": "t"}, 404, "not_found", "99"),
        ({"space": 10, "kind": "issue", "title": "t" * 1001}, 413, "too_large", "1000"),
        ({"space": 10, "kind": "issue", "title": "t", "body": "ä" * 40_000}, 413, "too_large", "65536"),
        ({"space": 10, "kind": "issue", "title": "t", "author": 77}, 404, "not_found", "77"),
        ([], 422, "invalid", "JSON object"),
        (None, 422, "invalid", "body"),
    ],
)
async def test_what_is_wrong_is_named(doors: Doors, body: Any, status: int, code: str, named: str) -> None:
    await doors.small_world()
    refused = await doors.host.put("/v1/threads/t", json=body)
    assert problem(refused) == (status, code), refused.text
    assert named in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    "content",
    [b"{", b"\xff\xfe", b'{"handle": "' + b"[" * 100_000, b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"],
)
async def test_a_body_that_is_no_json_is_malformed(doors: Doors, content: bytes) -> None:
    refused = await doors.host.put("/v1/people/1", content=content, headers={"Content-Type": "application/json"})
    assert refused.status_code in {400, 422}
    problem(refused)


async def test_half_a_character_is_refused(doors: Doors) -> None:
    body = b'{"handle": "ada", "name": "\\ud800"}'
    refused = await doors.host.put("/v1/people/1", content=body, headers={"Content-Type": "application/json"})
    assert problem(refused) == (422, "invalid")
    assert "name" in refused.json()["error"]["message"]


async def test_json_must_be_called_json(doors: Doors) -> None:
    refused = await doors.host.put("/v1/people/1", content=b'{"handle": "ada"}', headers={"Content-Type": "text/plain"})
    assert problem(refused) == (422, "invalid")
    assert "application/json" in refused.json()["error"]["message"]


async def test_routes_and_methods_that_are_not_there_are_told_in_the_same_form(doors: Doors) -> None:
    assert problem(await doors.host.get("/v1/nothing")) == (404, "not_found")
    assert problem(await doors.anybody.get("/nothing")) == (404, "not_found")
    wrong = await doors.host.put("/v1/notify", json={})
    assert problem(wrong) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "POST"
    assert problem(await doors.host.put("/v1/people/a%00b", json={"handle": "x"})) == (422, "invalid")


async def test_a_body_over_the_limit_is_refused_while_it_is_read(doors: Doors) -> None:
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 65_536
            yield b"x" * 65_536

    json_type = {"Content-Type": "application/json"}
    assert problem(await doors.host.post("/v1/notify", content=endless(), headers=json_type)) == (413, "too_large")
    assert taken <= MAX_BODY_BYTES + 2 * 65_536
    told = await doors.host.post("/v1/notify", content=b"x" * (MAX_BODY_BYTES + 1), headers=json_type)
    assert problem(told) == (413, "too_large")


async def test_keys_may_hold_anything_that_a_url_can_name(doors: Doors) -> None:
    await doors.small_world()
    for key, url in (
        ("a/b/close", "a%2Fb%2Fclose"),
        ("ü #?&%2F", "%C3%BC%20%23%3F%26%252F"),
        ("x/comments/y", "x%2fcomments%2fy"),
    ):
        body = {"space": 10, "kind": "issue", "title": "t"}
        made = await doors.host.put(f"/v1/threads/{url}", json=body)
        assert (made.status_code, made.json()["key"]) == (201, key)
        assert (await doors.host.put(f"/v1/threads/{url}", json=body)).status_code == 200
        assert ok(await doors.host.post(f"/v1/threads/{url}/close"))["key"] == key
    assert problem(await doors.host.put("/v1/threads/a/b", json={})) == (404, "not_found")


async def test_O11_a_deleted_key_stays_gone(doors: Doors) -> None:
    await doors.small_world()
    assert ok(await doors.host.delete("/v1/posts/c1", params={"actor": "2"}))["changed"]
    again = await doors.host.put("/v1/comments/c1", json={"thread": "org/repo#1", "body": "again"})
    assert problem(again) == (410, "gone")


async def test_a_handle_that_is_anothers_is_a_conflict(doors: Doors) -> None:
    await doors.people("ada")
    assert problem(await doors.host.put("/v1/people/2", json={"handle": "Ada"})) == (409, "conflict")


async def test_O11_the_same_post_twice_is_one_effect_and_one_answer(doors: Doors) -> None:
    await doors.people("ada")
    once = {"Idempotency-Key": "k1"}
    message = {"to": [1], "title": "Ready"}
    first = await doors.host.post("/v1/notify", json=message, headers=once)
    again = await doors.host.post("/v1/notify", json=message, headers=once)
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert len(ok(await doors.host.get("/v1/outbox"))["events"]) == 1
    other = await doors.host.post("/v1/notify", json={**message, "title": "Other"}, headers=once)
    assert problem(other) == (422, "idempotency_key_reused")
    elsewhere = await doors.host.post("/v1/events", json=EVENT, headers={**once, **STRUCTURED})
    assert problem(elsewhere) == (422, "idempotency_key_reused")


async def test_O11_two_at_once_are_one(doors: Doors) -> None:
    await doors.people("ada")
    message = {"to": [1], "title": "Ready"}
    posts = (doors.host.post("/v1/notify", json=message, headers={"Idempotency-Key": "k"}) for _ in range(8))
    answers = await asyncio.gather(*posts)
    assert {(answer.status_code, answer.content) for answer in answers} == {(202, answers[0].content)}
    assert len(ok(await doors.host.get("/v1/outbox"))["events"]) == 1


async def test_an_idempotency_key_is_its_callers_own(doors: Doors) -> None:
    await doors.small_world()
    ada, bo = await doors.person(1), await doors.person(2)
    for person in (ada, bo):
        answer = await person.post("/v1/inbox/seen", json={"version": 0}, headers={"Idempotency-Key": "k"})
        assert answer.status_code == 200
        assert "idempotency-replayed" not in answer.headers


async def test_a_refused_request_may_be_mended_under_the_same_key(doors: Doors) -> None:
    once = {"Idempotency-Key": "k"}
    event = {"type": "x"}
    assert problem(await doors.host.post("/v1/events", json=event, headers={**once, **STRUCTURED}))[0] == 422
    assert (await doors.host.post("/v1/events", json=EVENT, headers={**once, **STRUCTURED})).status_code == 202


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"])
async def test_an_idempotency_key_has_a_form(doors: Doors, key: str) -> None:
    refused = await doors.host.post("/v1/events", json=EVENT, headers={"Idempotency-Key": key, **STRUCTURED})
    assert problem(refused)[0] == 422


async def test_a_repeated_request_for_a_token_gets_the_same_token(doors: Doors) -> None:
    await doors.people("ada")
    once = {"Idempotency-Key": "k"}
    first, again = [ok(await doors.host.post("/v1/people/1/tokens", headers=once)) for _ in range(2)]
    assert first == again
    assert ok(await (await doors.client(first["token"])).get("/v1/me"))["person"] == "1"
    another = ok(await doors.host.post("/v1/people/1/tokens"))
    assert another["token"] != first["token"]


async def test_O11_a_cloudevent_is_published_once_in_either_mode(doors: Doors) -> None:
    structured = await doors.host.post("/v1/events", json=EVENT, headers=STRUCTURED)
    assert structured.status_code == 202
    binary = {f"ce-{name}": value for name, value in EVENT.items() if isinstance(value, str)}
    again = await doors.host.post("/v1/events", json=EVENT["data"], headers=binary)
    assert again.json() == structured.json()
    other = await doors.host.post("/v1/events", json={**EVENT, "data": {"order": 8}}, headers=STRUCTURED)
    assert problem(other) == (409, "conflict")
    (event,) = ok(await doors.host.get("/v1/outbox"))["events"]
    assert (event["id"], event["type"], event["keys"]) == (structured.json()["event"], "order.paid", {"order": 7})


@pytest.mark.parametrize(
    ("change", "status", "named"),
    [
        ({"specversion": "0.3"}, 422, "specversion"),
        ({"type": "Paid"}, 422, "type"),
        ({"actor": "x"}, 422, "bigint"),
        ({"data": {"order": "x" * 9000}}, 413, "data"),
        ({"data": {"order": "a\0"}}, 422, "NUL"),
    ],
)
async def test_a_cloudevent_that_is_wrong_is_named(
    doors: Doors, change: dict[str, Any], status: int, named: str
) -> None:
    refused = await doors.host.post("/v1/events", content=json.dumps({**EVENT, **change}), headers=STRUCTURED)
    assert refused.status_code == status
    assert named in refused.json()["error"]["message"]


async def test_what_nobody_expected_tells_nothing_but_an_id_that_the_log_has(
    doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret internals")

    monkeypatch.setattr(door, "perform", broken)
    with capture_logs() as logs:
        answer = await doors.host.get("/v1/outbox")
    assert problem(answer) == (500, "internal")
    assert "secret" not in answer.text
    (line,) = [line for line in logs if line["log_level"] == "error"]
    assert line["error_id"] in answer.text


async def test_a_database_that_is_away_is_said_to_be(doors: Doors) -> None:
    ada = await doors.client("clp_x")
    await doors.engine.database.close()
    for client, path in ((doors.host, "/v1/outbox"), (ada, "/v1/me")):
        away = await client.get(path)
        assert problem(away) == (503, "unavailable")
        assert int(away.headers["retry-after"]) > 0
    assert (await doors.anybody.get("/healthz")).status_code == 200
    ready = await doors.anybody.get("/readyz")
    assert (ready.status_code, ready.json()["database"]) == (503, "away")
    assert "clarion_database_up 0.0" in (await doors.anybody.get("/metrics")).text


async def test_requests_are_logged_without_secrets_and_with_events(doors: Doors) -> None:
    await doors.people("ada")
    with capture_logs() as logs:
        answer = ok(await doors.host.post("/v1/notify?key=secret", json={"to": [1], "title": "Ready"}))
    (line,) = [line for line in logs if line["event"] == "request"]
    assert (line["method"], line["route"], line["status"]) == ("POST", "/v1/notify", 202)
    assert line["event_ids"] == [answer["event"]]
    assert "secret" not in str(logs)
