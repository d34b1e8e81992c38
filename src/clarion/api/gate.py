"""The gate: who calls, decided before anything of the request is read.

Kept here: no route under /v1 is reached without a credential that holds; the host's routes are for the host,
a person's for that person alone.
"""

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from clarion.api.credentials import find_credential, is_same_secret
from clarion.api.perform import perform
from clarion.engine import Engine
from clarion.model.errors import Refused, Unauthorised
from clarion.model.keys import Key
from clarion.web.visits import is_same_origin, session_token

PREFIX = "/v1"
MAX_SECRET_CHARS = 500


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request."""

    person: Key | None
    """Whose token it is; None for the host."""
    secret: str = field(repr=False)

    @property
    def name(self) -> str:
        """What requests that are to be made once are told apart by; a person's outlasts their token."""
        return f"host {self.secret}" if self.person is None else f"person {self.person}"


class Gate:
    """ASGI middleware that lets nobody in to /v1 without a credential, and says who is in."""

    def __init__(self, app: ASGIApp, engine: Engine, *, demo: bool = False) -> None:
        self._app = app
        self._engine = engine
        self._demo = demo

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its caller. Raises: `Unauthorised`."""
        if scope["type"] == "http":
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            if path == PREFIX or path.startswith(f"{PREFIX}/"):
                scope.setdefault("state", {})["caller"] = await self._identify(scope)
        await self._app(scope, receive, send)

    async def _identify(self, scope: Scope) -> Caller:
        secret = self._secret(scope)
        if not secret or len(secret) > MAX_SECRET_CHARS:
            raise Unauthorised("send a credential: Authorization: Bearer <API key or token>")
        api_key = self._engine.settings.api_key
        if api_key is not None and is_same_secret(secret, api_key.get_secret_value()):
            return Caller(None, secret)
        credential = await perform(self._engine, find_credential, secret)
        return Caller(credential.person, secret)

    def _secret(self, scope: Scope) -> str:
        headers = Headers(scope=scope)
        scheme, _, secret = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return secret.strip()
        if self._demo and not scheme and (scope["method"] in {"GET", "HEAD"} or is_same_origin(headers, None)):
            return session_token(headers)
        return ""


_host_key = HTTPBearer(
    scheme_name="host_key", bearerFormat="API key", description="An API key of the host's.", auto_error=False
)
_person_token = HTTPBearer(
    scheme_name="person_token",
    bearerFormat="opaque token",
    description="A person's token, which the host issues by POST /v1/people/{person}/tokens.",
    auto_error=False,
)


async def require_host(request: Request, _: Annotated[object, Security(_host_key)]) -> Caller:
    """Return the caller, if it is the host. Raises: `Refused`."""
    caller: Caller = request.state.caller
    if caller.person is not None:
        raise Refused("this is for the host's API key; a person's token reads and changes that person's inbox only")
    return caller


async def require_person(request: Request, _: Annotated[object, Security(_person_token)]) -> Caller:
    """Return the caller, if it is a person. Raises: `Refused`."""
    caller: Caller = request.state.caller
    if caller.person is None:
        raise Refused("this is for a person's token; the host's API key is nobody's")
    return caller


async def require_anybody(
    request: Request, _: Annotated[object, Security(_host_key)], __: Annotated[object, Security(_person_token)]
) -> Caller:
    """Return the caller, whoever it is."""
    caller: Caller = request.state.caller
    return caller


HostCaller = Annotated[Caller, Depends(require_host)]
PersonCaller = Annotated[Caller, Depends(require_person)]
