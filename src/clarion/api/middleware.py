"""What happens to every request before a route sees it, and to every answer after."""

import re
from collections.abc import Callable
from http import HTTPStatus
from time import perf_counter
from urllib.parse import unquote, unquote_to_bytes
from uuid import uuid4

import structlog
from fastapi import HTTPException
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clarion.api.errors import answer_error, present_error, status_of
from clarion.model.errors import ClarionError, Invalid, TooLarge

log = structlog.get_logger("clarion.http")

MAX_BODY_BYTES = 1024 * 1024
"""The longest body of a request (K2); some routes take less."""

_ENCODED_SLASH = re.compile("%2[fF]")
_SLASH = "\udc2f"
"""Stands for %2F in a path while it is routed: half a character, which no URL can name."""

Observe = Callable[[str, str, int, float], None]
"""Told of each request: method, route, status, seconds."""


class KeyConvertor(Convertor[str]):
    """One segment of a path, in which %2F is a slash: a host's key."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        """Return the key."""
        return value.replace(_SLASH, "/")

    def to_string(self, value: str) -> str:
        """Return the key as it stands in a URL."""
        return value.replace("/", "%2F")


register_url_convertor("key", KeyConvertor())


class Observed:
    """Logs each request in one line and tells a listener; gives it an id that all its log lines carry."""

    def __init__(self, app: ASGIApp, observe: Observe) -> None:
        self._app = app
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = {**scope, "state": dict(scope.get("state", {}))}
        status = HTTPStatus.INTERNAL_SERVER_ERROR.value
        started = perf_counter()

        async def send_and_look(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=uuid4().hex[:16]):
            try:
                await self._app(scope, receive, send_and_look)
            finally:
                seconds = perf_counter() - started
                route = getattr(scope.get("route"), "path_format", "none")
                self._observe(scope["method"], route, status, seconds)
                log.info(
                    "request",
                    method=scope["method"],
                    route=route,
                    status=status,
                    milliseconds=round(seconds * 1000, 1),
                    **scope["state"].get("log", {}),
                )


class Failures:
    """Turns what is raised into an answer; what nobody expected is logged with an id and tells nothing else."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_and_look(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_look)
        except ClientDisconnect:
            log.debug("the client left before its request was whole")
        except (HTTPException, ClarionError) as error:
            if started:
                raise
            await _refusal(scope, error)(scope, receive, send)
        except Exception:
            error_id = uuid4().hex[:16]
            log.exception("request failed", error_id=error_id)
            if started:
                raise
            message = f"something went wrong on our side; the server's log has it as {error_id}"
            await answer_error(scope, 500, "internal", message)(scope, receive, send)


class BodyLimit:
    """Refuses a body that is too long, as soon as it is known to be."""

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. Raises: HTTP 413 where the body is read."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        told = dict(scope["headers"]).get(b"content-length", b"0")
        if told.isdigit() and int(told[:18]) > self._limit:
            raise self._too_large()
        seen = 0

        async def receive_and_count() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise self._too_large()
            return message

        await self._app(scope, receive_and_count, send)

    def _too_large(self) -> HTTPException:
        return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body takes more than {self._limit} bytes")


class EncodedSlashes:
    """Keeps %2F in a path apart from the slashes that part it, so that any key can stand in a URL."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            raw = scope.get("raw_path") or b""
            if not _is_utf8(raw):
                await answer_error(scope, HTTPStatus.BAD_REQUEST, Invalid.code, "the path is not UTF-8")(
                    scope, receive, send
                )
                return
            if b"%2f" in raw.lower():
                path = _SLASH.join(unquote(part) for part in _ENCODED_SLASH.split(raw.decode("latin-1")))
                if path.replace(_SLASH, "/") == scope["path"]:
                    scope["path"] = path
        await self._app(scope, receive, send)


def _refusal(scope: Scope, error: HTTPException | ClarionError) -> Response:
    if isinstance(error, HTTPException):  # of a body that turned out too long
        return answer_error(scope, error.status_code, TooLarge.code, str(error.detail))
    if status_of(error) >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.warning("request failed", error=repr(error), cause=repr(error.__cause__))
    return present_error(scope, error)


def _is_utf8(raw_path: bytes) -> bool:
    try:
        unquote_to_bytes(raw_path).decode()
    except UnicodeDecodeError:
        return False
    return True
