"""Pages as answers: rendered with everything escaped, under a policy that lets nothing else in."""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Of every page. `same-origin` leaves forms their Origin and tells other sites nothing."""

_TEMPLATES = Environment(
    loader=PackageLoader("clarion.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def _ago(at: datetime, now: datetime) -> str:
    """Return how long ago something was, in a few letters; what is older than a week by its day."""
    seconds = max(0, int((now - at).total_seconds()))
    for least, size, unit in ((86_400, 86_400, "d"), (3_600, 3_600, "h"), (60, 60, "min")):
        if seconds >= least:
            count = seconds // size
            return at.strftime("%d %b %Y").lstrip("0") if unit == "d" and count > _WEEK else f"{count} {unit} ago"
    return "just now"


_WEEK = 7
_TEMPLATES.filters["ago"] = _ago


def render(scope: Scope, template: str, status: int = 200, /, **values: Any) -> Response:
    """Return a page. `base` is the path that the app is mounted at."""
    html = _TEMPLATES.get_template(template).render(base=base_of(scope), **values)
    # A text may hold half a character; a page cannot.
    return HTMLResponse(html.encode("utf-8", "replace"), status, HEADERS)


def base_of(scope: Scope) -> str:
    """Return the path that the app is mounted at, to put before links."""
    return str(scope.get("root_path", ""))


def wants_page(scope: Scope) -> bool:
    """Whether who asks looks at a page: a browser that goes somewhere, outside the API."""
    path = str(scope["path"]).removeprefix(base_of(scope))
    return not path.startswith("/v1") and "text/html" in Headers(scope=scope).get("accept", "")


def error_page(scope: Scope, status: int, message: str, headers: Mapping[str, str]) -> Response:
    """Return a page that says what went wrong."""
    response = render(scope, "error.html", status, title=HTTPStatus(status).phrase, message=message)
    response.headers.update(headers)
    return response
