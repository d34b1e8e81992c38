"""Clients of the app, in this process: the host, people with their tokens, a browser."""

from contextlib import AsyncExitStack
from typing import Any, Self

from fastapi import FastAPI
from httpx2 import ASGITransport, AsyncClient, Response

from clarion.engine import Engine
from clarion.work.relay import Relay
from clarion.work.wake import Wake

API_KEY = "the host's key"
BASE = "http://127.0.0.1:8500"


class Doors:
    """One app and its clients."""

    def __init__(self, engine: Engine, app: FastAPI) -> None:
        self.engine = engine
        self.app = app
        self._exits = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.anybody = await self.client()
        self.host = await self.client(API_KEY)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._exits.aclose()

    async def client(
        self, secret: str | None = None, *, address: str = "127.0.0.1", base: str = BASE, **headers: str
    ) -> AsyncClient:
        """Somebody who sends this credential with each request."""
        if secret is not None:
            headers["Authorization"] = f"Bearer {secret}"
        transport = ASGITransport(app=self.app, client=(address, 50000))
        return await self._exits.enter_async_context(AsyncClient(transport=transport, base_url=base, headers=headers))

    async def browser(self, token: str | None = None) -> AsyncClient:
        """Somebody who looks at pages of ours, signed in with a link if there is a token."""
        browser = await self.client(None, **{"Accept": "text/html", "Sec-Fetch-Site": "same-origin"})
        if token is not None:
            signed_in = await browser.post("/login", data={"token": token})
            assert signed_in.status_code == 303, signed_in.text
        return browser

    async def token(self, person: int | str, **body: Any) -> str:
        """A person's token, as the host gets it."""
        issued = await self.host.post(f"/v1/people/{person}/tokens", json=body)
        assert issued.status_code == 201, issued.text
        return str(issued.json()["token"])

    async def person(self, person: int | str) -> AsyncClient:
        """A person with a token of their own."""
        return await self.client(await self.token(person))

    async def people(self, *handles: str) -> None:
        """People 1, 2, 3 and so on with these handles."""
        for number, handle in enumerate(handles, 1):
            ok(await self.host.put(f"/v1/people/{number}", json={"handle": handle}))

    async def relay(self) -> int:
        """Handle what waits; return how many events moved."""
        return await Relay(self.engine.database, self.engine.notifier, Wake()).drain()

    async def small_world(self) -> None:
        """Ada (1) opened an issue `org/repo#1` in the public space 10, and Bo (2) wrote to her in it; Cy (3)."""
        await self.people("ada", "bo", "cy")
        ok(await self.host.put("/v1/spaces/10", json={"name": "org/repo", "visibility": "public"}))
        issue = {"space": 10, "kind": "issue", "title": "It <b>broke</b>", "author": 1, "link": "https://x.example/1"}
        ok(await self.host.put("/v1/threads/org%2Frepo%231", json=issue))
        await self.comment("c1", "@ada look", 2)
        await self.relay()

    async def comment(self, key: str, body: str, author: int, thread: str = "org/repo#1") -> dict[str, Any]:
        """A comment, which waits for a relay."""
        comment = {"thread": thread, "body": body, "author": author}
        return ok(await self.host.put(f"/v1/comments/{key}", json=comment))


def ok(response: Response) -> dict[str, Any]:
    """The body of an answer that is a success."""
    assert response.is_success, (response.status_code, response.text)
    body: dict[str, Any] = response.json()
    return body


def problem(response: Response) -> tuple[int, str]:
    """The status and code of an answer that is none."""
    body = response.json()
    assert set(body) == {"error"}, body
    assert set(body["error"]) == {"code", "message"}, body
    return response.status_code, body["error"]["code"]
