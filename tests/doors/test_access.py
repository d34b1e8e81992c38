"""Who may call which route: nobody reads or changes another person's rows, told route by route."""

from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute
from httpx2 import AsyncClient

from clarion.api import create_app
from clarion.api.app import ROUTERS
from clarion.api.credentials import add_host_key
from clarion.config import Settings
from clarion.engine import Engine
from support.doors import Doors, ok, problem

HOST = {
    "PUT /v1/people/{person}",
    "PATCH /v1/people/{person}",
    "DELETE /v1/people/{person}",
    "POST /v1/people/{person}/tokens",
    "DELETE /v1/people/{person}/tokens",
    "DELETE /v1/people/{person}/tokens/{token}",
    "PUT /v1/organisations/{organisation}",
    "PUT /v1/organisations/{organisation}/members/{person}",
    "DELETE /v1/organisations/{organisation}/members/{person}",
    "PUT /v1/teams/{team}",
    "DELETE /v1/teams/{team}",
    "PUT /v1/teams/{team}/members/{person}",
    "DELETE /v1/teams/{team}/members/{person}",
    "PUT /v1/spaces/{space}",
    "DELETE /v1/spaces/{space}",
    "PUT /v1/spaces/{space}/members/{person}",
    "DELETE /v1/spaces/{space}/members/{person}",
    "PUT /v1/spaces/{space}/teams/{team}",
    "DELETE /v1/spaces/{space}/teams/{team}",
    "PUT /v1/threads/{thread}",
    "PATCH /v1/threads/{thread}",
    "DELETE /v1/threads/{thread}",
    "POST /v1/threads/{thread}/close",
    "POST /v1/threads/{thread}/reopen",
    "POST /v1/threads/{thread}/merge",
    "POST /v1/threads/{thread}/move",
    "POST /v1/threads/{thread}/changes",
    "POST /v1/threads/{thread}/assign",
    "POST /v1/threads/{thread}/unassign",
    "POST /v1/threads/{thread}/request-review",
    "POST /v1/threads/{thread}/withdraw-review-request",
    "PUT /v1/comments/{post}",
    "PUT /v1/reviews/{post}",
    "POST /v1/reviews/{post}/dismiss",
    "PATCH /v1/posts/{post}",
    "DELETE /v1/posts/{post}",
    "POST /v1/events",
    "POST /v1/notify",
    "GET /v1/events/{event}/why/{person}",
    "GET /v1/outbox",
    "GET /v1/outbox/{event}",
    "POST /v1/outbox/retry",
    "POST /v1/outbox/drop",
}
"""For the host's API key alone."""

OF_ONE_ROW = {
    f"POST /v1/inbox/{{thread}}/{mark}"
    for mark in ("read", "unread", "done", "undone", "save", "unsave", "snooze", "unsnooze")
} | {"GET /v1/inbox/{thread}"}
"""For a person's token, on that person's row."""

PERSON = OF_ONE_ROW | {
    "GET /v1/me",
    "PATCH /v1/me/choices",
    "GET /v1/inbox",
    "POST /v1/inbox/read",
    "POST /v1/inbox/unread",
    "POST /v1/inbox/done",
    "POST /v1/inbox/undone",
    "POST /v1/inbox/save",
    "POST /v1/inbox/unsave",
    "POST /v1/inbox/snooze",
    "POST /v1/inbox/unsnooze",
    "POST /v1/inbox/mark-all",
    "POST /v1/inbox/mark-all/undo",
    "POST /v1/inbox/seen",
    "POST /v1/read",
    "PUT /v1/subscriptions/{thread}",
    "DELETE /v1/subscriptions/{thread}",
    "PUT /v1/watches/{space}",
    "DELETE /v1/watches/{space}",
    "PUT /v1/blocks/{person}",
    "DELETE /v1/blocks/{person}",
    "PUT /v1/mutes/{person}",
    "DELETE /v1/mutes/{person}",
}
"""For a person's token alone."""

OPEN = {"GET /healthz", "GET /readyz", "GET /metrics", "GET /docs", "GET /login", "GET /static/clarion.css"}
"""For anybody: nothing of anybody's."""

PAGE = {"GET /", "POST /mark", "POST /mark-all", "POST /undo", "POST /login", "POST /logout"}
"""For who is signed in by the page's cookie, from the page itself; test_page.py."""

UNTIL = "2199-01-01T00:00:00Z"
BODIES = {
    "PUT /v1/people/{person}": {"handle": "dee"},
    "PUT /v1/organisations/{organisation}": {"handle": "org"},
    "PUT /v1/teams/{team}": {"organisation": "o", "handle": "team"},
    "PUT /v1/spaces/{space}": {"name": "s", "visibility": "public"},
    "PUT /v1/threads/{thread}": {"space": 10, "kind": "issue", "title": "t"},
    "POST /v1/threads/{thread}/move": {"to": 10},
    "POST /v1/threads/{thread}/changes": {"change": "labeled"},
    "POST /v1/threads/{thread}/assign": {"people": [1]},
    "POST /v1/threads/{thread}/unassign": {"people": [1]},
    "PUT /v1/comments/{post}": {"thread": "t", "body": "b"},
    "PUT /v1/reviews/{post}": {"thread": "t", "body": "b"},
    "PATCH /v1/posts/{post}": {"body": "b"},
    "POST /v1/events": {},
    "POST /v1/notify": {"to": [1], "title": "t"},
    "POST /v1/inbox/mark-all": {"cutoff": 1},
    "POST /v1/inbox/mark-all/undo": {"undo": "0.1"},
    "POST /v1/inbox/seen": {"version": 1},
    "POST /v1/read": {"thread": "org/repo#1"},
    "POST /v1/inbox/snooze": {"threads": ["1"], "until": UNTIL},
    "POST /v1/inbox/{thread}/snooze": {"until": UNTIL},
    "PUT /v1/watches/{space}": {"level": "all"},
} | {
    f"POST /v1/inbox/{mark}": {"threads": ["1"]}
    for mark in ("read", "unread", "done", "undone", "save", "unsave", "unsnooze")
}
VALUES = {
    "person": "3",
    "space": "10",
    "thread": "org%2Frepo%231",
    "post": "c1",
    "team": "t",
    "organisation": "o",
    "event": "1",
    "token": "1",
}


def routes() -> Iterator[str]:
    """Every route of the app, but for FastAPI's own description of them."""
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute)
            yield from (f"{method} {route.path_format}" for method in route.methods or ())


def test_every_route_of_the_app_stands_in_the_table_of_who_may_call_it() -> None:
    assert sorted(routes()) == sorted(HOST | PERSON | OPEN | PAGE)
    app = create_app(Engine(Settings()))
    described = {f"{method.upper()} {path}" for path, each in app.openapi()["paths"].items() for method in each}
    assert described == HOST | PERSON | {"GET /healthz", "GET /readyz", "GET /metrics"}


async def _call(client: AsyncClient, route: str, **values: str) -> tuple[int, str]:
    method, _, path = route.partition(" ")
    response = await client.request(method, path.format(**{**VALUES, **values}), json=BODIES.get(route))
    assert not response.is_success, (route, response.text)
    return problem(response)


async def test_without_a_credential_nothing_is_read_or_done(doors: Doors) -> None:
    for client in (doors.anybody, await doors.client("wrong"), await doors.client("")):
        for route in HOST | PERSON:
            assert await _call(client, route) == (401, "unauthorised"), route
    for header in ("Basic dGhlIGhvc3QncyBrZXk6", "Bearer", "the host's key", "Bearer " + "x" * 10_000):
        client = await doors.client(None, Authorization=header)
        assert await _call(client, "GET /v1/me") == (401, "unauthorised"), header
    assert (await doors.anybody.get("/v1/me")).headers["www-authenticate"].startswith("Bearer")
    assert (await doors.anybody.get("/v1/nothing")).status_code == 401


async def test_a_persons_token_opens_no_route_of_the_hosts(doors: Doors) -> None:
    await doors.small_world()
    ada = await doors.person(1)
    for route in HOST:
        assert await _call(ada, route) == (403, "refused"), route


async def test_the_hosts_key_is_nobody_in_particular(doors: Doors) -> None:
    await doors.small_world()
    for route in PERSON:
        assert await _call(doors.host, route) == (403, "refused"), route


async def test_another_persons_row_is_told_like_one_that_is_not_there(doors: Doors) -> None:
    await doors.small_world()
    ada, cy = await doors.person(1), await doors.person(3)
    (row,) = ok(await ada.get("/v1/inbox"))["rows"]
    before = ok(await ada.get("/v1/inbox"))
    for route in OF_ONE_ROW:
        foreign = await _call(cy, route, thread=row["thread"])
        assert foreign == await _call(cy, route, thread="424242") == (404, "not_found"), route
    for mark in ("read", "unread", "done", "undone", "save", "unsave", "unsnooze"):
        assert ok(await cy.post(f"/v1/inbox/{mark}", json={"threads": [row["thread"]]}))["changed"] == 0
    body = {"threads": [row["thread"]], "until": UNTIL}
    assert ok(await cy.post("/v1/inbox/snooze", json=body))["changed"] == 0
    assert ok(await ada.get("/v1/inbox")) == before


async def test_W8_what_may_not_be_read_is_told_like_what_is_not_there(doors: Doors) -> None:
    await doors.small_world()
    ok(await doors.host.put("/v1/spaces/20", json={"name": "secret", "visibility": "private"}))
    ok(await doors.host.put("/v1/threads/s1", json={"space": 20, "kind": "issue", "title": "Secret", "author": 2}))
    await doors.relay()
    cy = await doors.person(3)
    for method in ("PUT", "DELETE"):
        secret = await cy.request(method, "/v1/subscriptions/s1")
        nothing = await cy.request(method, "/v1/subscriptions/s2")
        assert problem(secret) == problem(nothing) == (404, "not_found")
        assert secret.text.replace("s1", "s2") == nothing.text
    secret, nothing = await cy.put("/v1/watches/20", json={}), await cy.put("/v1/watches/21", json={})
    assert problem(secret) == problem(nothing) == (404, "not_found")
    assert secret.text.replace("20", "21") == nothing.text


async def test_a_token_ends_when_it_is_revoked_or_its_person_goes(doors: Doors) -> None:
    await doors.people("ada", "bo")
    issued = [ok(await doors.host.post("/v1/people/1/tokens", json={"label": "bell"})) for _ in range(3)]
    clients = [await doors.client(each["token"]) for each in issued]
    assert [(await client.get("/v1/me")).status_code for client in clients] == [200, 200, 200]
    assert problem(await doors.host.delete(f"/v1/people/2/tokens/{issued[0]['id']}")) == (404, "not_found")
    assert ok(await doors.host.delete(f"/v1/people/1/tokens/{issued[0]['id']}")) == {"revoked": 1}
    assert [(await client.get("/v1/me")).status_code for client in clients] == [401, 200, 200]
    assert ok(await doors.host.delete("/v1/people/1/tokens")) == {"revoked": 2}
    assert [(await client.get("/v1/me")).status_code for client in clients] == [401, 401, 401]
    ada = await doors.person(1)
    ok(await doors.host.patch("/v1/people/1", json={"active": False}))
    assert (await ada.get("/v1/me")).status_code == 401
    ok(await doors.host.patch("/v1/people/1", json={"active": True}))
    assert (await ada.get("/v1/me")).status_code == 200
    ok(await doors.host.delete("/v1/people/1"))
    assert (await ada.get("/v1/me")).status_code == 401
    assert problem(await doors.host.post("/v1/people/1/tokens")) == (404, "not_found")


async def test_a_token_ends_by_itself(doors: Doors) -> None:
    await doors.people("ada")
    ada = await doors.client(await doors.token(1, days=1))
    async with doors.engine.database.session() as session:
        await session.connection.execute("UPDATE clarion.credential SET expires_at = clarion.now() - interval '1 s'")
    assert (await ada.get("/v1/me")).status_code == 401


@pytest.mark.parametrize("secret", ["clh_", "the host's ke", "the host's key!"])
async def test_a_key_that_is_nearly_right_is_wrong(doors: Doors, secret: str) -> None:
    assert (await (await doors.client(secret)).get("/v1/outbox")).status_code == 401


async def test_a_key_that_the_command_line_made_is_the_hosts(doors: Doors) -> None:
    secret = await doors.engine.changes.run(add_host_key("a program"))
    assert ok(await (await doors.client(secret)).get("/v1/outbox")) == {"events": []}


async def test_secrets_are_kept_as_digests_only(doors: Doors) -> None:
    await doors.people("ada")
    token = await doors.token(1)
    async with doors.engine.database.session() as session:
        cursor = await session.connection.execute(
            "SELECT string_agg(r::text, '') AS text FROM"
            " (SELECT c::text AS r FROM clarion.credential c UNION ALL SELECT q::text FROM clarion.request q) x"
        )
        (row,) = await cursor.fetchall()
    assert token not in row["text"]
    assert token.encode().hex() not in row["text"]
