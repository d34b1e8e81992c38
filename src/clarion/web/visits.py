"""Visits: who looks at the page, and whether a form is one of ours."""

from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import ParamSpec, Protocol, TypeVar
from urllib.parse import SplitResult, urlsplit

from clarion.model.keys import Key
from clarion.store.database import Command

COOKIE = "clarion_token"

P = ParamSpec("P")
T = TypeVar("T")


class Visits(Protocol):
    """What the page asks of its server."""

    async def find(self, token: str) -> Key | None:
        """Return the person whose token this is, or None."""
        ...

    async def sign_in(self, token: str) -> str:
        """Return the token for the cookie, for one that a link brought. Raises: `Unauthorised`."""
        ...

    async def enter_as(self, handle: str) -> str:
        """Return a token for the person with this handle. Raises: `NotFound`."""
        ...

    async def leave(self, token: str) -> None:
        """Let the token count no more."""
        ...

    async def run(self, command: Callable[P, Command[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a command in a transaction of its own."""
        ...


def session_token(headers: Mapping[str, str]) -> str:
    """Return the token in the cookie, or nothing."""
    try:
        cookie = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookie[COOKIE].value if COOKIE in cookie else ""


def is_same_origin(headers: Mapping[str, str], public_url: str | None) -> bool:
    """Whether a request was made by a page of this site; one that does not say so was not.

    Browsers say it by Sec-Fetch-Site, older ones by Origin on every POST.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = _split(headers.get("origin", "")).netloc
    return bool(origin) and origin in {headers.get("host"), _split(public_url or "").netloc}


def is_loopback(client: str | None, host: str) -> bool:
    """Whether a request comes from this machine and names it so: a name that somebody else points here does not."""
    name = _split(f"//{host}").hostname
    return client in {"127.0.0.1", "::1"} and name in {"127.0.0.1", "::1", "localhost"}


def _split(url: str) -> SplitResult:
    """Return the parts of a stranger's URL; of one that is none, nothing."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")
