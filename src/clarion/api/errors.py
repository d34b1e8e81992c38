"""Errors at the door: one table from the class of an error to its status, one form of body for all.

Kept here: every answer that is not a success has the body `{"error": {"code", "message"}}`; the code never
changes once released, the message is one sentence for a person, and nothing internal is in either.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, ClassVar

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.types import Scope

from clarion.model import errors as known
from clarion.model.errors import ClarionError
from clarion.web.answers import error_page, wants_page

RETRY_SECONDS = 2
"""After so long a client may ask again when we are busy or our database is away."""


class IdempotencyKeyReused(known.Conflict):
    """The same Idempotency-Key came with another request (O11)."""

    code: ClassVar[str] = "idempotency_key_reused"


class Unavailable(ClarionError):
    """The database is away or has no room; nothing is known to be changed."""

    code: ClassVar[str] = "unavailable"


STATUS: Mapping[type[ClarionError], int] = {
    known.Unauthorised: HTTPStatus.UNAUTHORIZED,
    known.Refused: HTTPStatus.FORBIDDEN,
    known.NotFound: HTTPStatus.NOT_FOUND,
    known.Gone: HTTPStatus.GONE,
    known.TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    IdempotencyKeyReused: HTTPStatus.UNPROCESSABLE_ENTITY,
    known.Conflict: HTTPStatus.CONFLICT,
    known.Invalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    known.WrongKey: HTTPStatus.UNPROCESSABLE_ENTITY,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    ClarionError: HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""The status of each error; a class that is not named has that of its nearest ancestor."""

CODES: Mapping[int, str] = {
    HTTPStatus.BAD_REQUEST: "malformed",
    HTTPStatus.UNAUTHORIZED: known.Unauthorised.code,
    HTTPStatus.FORBIDDEN: known.Refused.code,
    HTTPStatus.NOT_FOUND: known.NotFound.code,
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: known.TooLarge.code,
    HTTPStatus.UNPROCESSABLE_ENTITY: known.Invalid.code,
}
"""The code of an answer that no error of ours stands behind."""


class Problem(BaseModel):
    """What went wrong."""

    code: str = Field(description="Stable: programs may tell errors apart by it.", examples=["not_found"])
    message: str = Field(description="One sentence for a person.")


class ErrorOut(BaseModel):
    """The body of every answer that is not a success."""

    error: Problem


def status_of(error: ClarionError) -> int:
    """Return the status of an error of ours."""
    return next(STATUS[each] for each in type(error).__mro__ if each in STATUS)


def answer_error(
    scope: Scope, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer that is no success: a page for who asked for a page, else JSON."""
    all_headers = dict(headers or {})
    if status == HTTPStatus.UNAUTHORIZED:
        all_headers["WWW-Authenticate"] = 'Bearer realm="clarion"'
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        all_headers["Retry-After"] = str(RETRY_SECONDS)
    if wants_page(scope):
        return error_page(scope, status, message, all_headers)
    body = ErrorOut(error=Problem(code=code, message=message))
    return Response(body.model_dump_json(), status, all_headers, "application/json")


def present_error(scope: Scope, error: ClarionError) -> Response:
    """Return the answer for an error of ours; one that has no status of its own tells nothing of itself."""
    status = status_of(error)
    internal = status == HTTPStatus.INTERNAL_SERVER_ERROR
    message = "something went wrong on our side; the server's log says what" if internal else str(error)
    return answer_error(scope, status, error.code, message)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Handle what routing refuses: no such route, a method that it has not."""
    assert isinstance(error, HTTPException)  # noqa: S101 - for types; it is registered for this class
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            message = "there is nothing at this path; GET /docs lists what there is"
        case HTTPStatus.METHOD_NOT_ALLOWED:
            message = f"{request.method} is not for this path; allowed: {(error.headers or {}).get('Allow', '')}"
        case HTTPStatus.BAD_REQUEST:
            message = "the body is no JSON in UTF-8"
        case _:
            message = str(error.detail)
    code = CODES.get(error.status_code, ClarionError.code)
    return answer_error(request.scope, error.status_code, code, message, error.headers)


async def on_wrong_request(request: Request, error: Exception) -> Response:
    """Handle a request that has not the form which the route declares, naming each part that is wrong."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - for types; it is registered for this class
    details: Sequence[Any] = error.errors()
    if any(detail["type"] == "json_invalid" for detail in details):
        problem = details[0].get("ctx", {}).get("error", "it cannot be read")
        status = HTTPStatus.BAD_REQUEST
        return answer_error(request.scope, status, CODES[status], f"the body is no JSON: {problem}")
    complaints = "; ".join(dict.fromkeys(_complaint(detail) for detail in details))
    return answer_error(request.scope, HTTPStatus.UNPROCESSABLE_ENTITY, known.Invalid.code, complaints)


def _complaint(detail: Any) -> str:
    place = [str(part) for part in detail["loc"] if not isinstance(part, str) or part.isprintable()]
    if len(place) > 1 and place[0] in {"body", "path", "query", "header"}:
        place = place[1:]
    said = str(detail["msg"]).removeprefix("Value error, ")
    if detail["type"] == "model_attributes_type":
        said = "a JSON object is wanted, with content-type: application/json"
    text = f"{'.'.join(place)}: {said}"
    return text.encode("utf-8", "replace").decode()
