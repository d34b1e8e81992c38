"""The inbox page and its forms."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from clarion.inbox.listing import list_rows
from clarion.inbox.mark_all import mark_all, seen, undo_mark_all
from clarion.model.errors import Invalid, Refused, Unauthorised
from clarion.model.inbox import Cursor, Page, Row, Tab, Undo
from clarion.model.keys import Key
from clarion.model.reasons import IN_WORDS
from clarion.store.database import Command
from clarion.store.queries import ask
from clarion.web.answers import base_of, render
from clarion.web.marks import MARKS, mark_one
from clarion.web.visits import COOKIE, Visits, is_loopback, is_same_origin, session_token

router = APIRouter(include_in_schema=False)

TABS = (Tab.UNREAD, Tab.ALL, Tab.SAVED, Tab.SNOOZED, Tab.DONE)
ROWS = 30
COOKIE_SECONDS = 30 * 24 * 3600
STYLE = files("clarion.web").joinpath("static/clarion.css").read_bytes()
STYLE_TAG = f'"{sha256(STYLE).hexdigest()[:32]}"'


@dataclass(frozen=True, slots=True)
class Looked:
    """A page of the inbox, with whose it is and the names of its spaces."""

    handle: str
    page: Page
    spaces: Mapping[Key, str]


def look(person: Key, tab: Tab, before: Cursor | None) -> Command[Looked]:
    """Return what the page shows; to look at it is to have opened the inbox: the badge loses its colour."""
    page = yield from list_rows(person, tab=tab, before=before, limit=ROWS)
    wanted = sorted({row.space for row in page.rows if row.space is not None}, key=str)
    names = yield ask("name_spaces", spaces=wanted)
    if page.state.unseen:
        yield from seen(person, page.state.version)
    (owner,) = yield ask("find_person_named", key=person, handle="")
    return Looked(owner["handle"], page, {row["id"]: row["name"] for row in names})


@dataclass(frozen=True, slots=True)
class Site:
    """What the page stands on; the app keeps it as `app.state.site`."""

    visits: Visits
    public_url: str | None
    demo: bool = False
    """Lets a browser on this machine come in as anybody."""

    @property
    def is_secure(self) -> bool:
        """Whether people come by HTTPS alone."""
        return bool(self.public_url and self.public_url.startswith("https://"))


@router.get("/")
async def show_inbox(request: Request) -> Response:
    """Show the inbox, or how to sign in."""
    site, query = _site(request), request.query_params
    if site.demo and "as" in query:
        client = request.client.host if request.client else None
        if not is_loopback(client, request.headers.get("host", "")):
            raise Refused("the demo lets in only who sits at this machine")
        return _signed_in(request, await site.visits.enter_as(query["as"][:100]))
    person = await site.visits.find(session_token(request.headers))
    if person is None:
        return render(request.scope, "sign_in.html", token=None, demo=site.demo)
    tab = _tab(query.get("tab", Tab.UNREAD.value))
    before = Cursor.parse(query["before"]) if "before" in query else None
    looked = await site.visits.run(look, person, tab, before)
    return render(
        request.scope,
        "inbox.html",
        tab=tab,
        tabs=TABS,
        handle=looked.handle,
        page=looked.page,
        spaces=looked.spaces,
        words=IN_WORDS,
        marks=MARKS,
        buttons=_buttons,
        href=_href,
        now=datetime.now(UTC),
        undo=query.get("undo", ""),
        first=before is None,
    )


@router.post("/mark")
async def set_a_mark(request: Request) -> Response:
    """Set a mark on one row, and show the list again."""
    person, form = await _visitor(request), await _form(request)
    mark = MARKS.get(form.get("mark", ""))
    if mark is None:
        raise Invalid(f"no such mark: one of {', '.join(MARKS)}")
    await _site(request).visits.run(mark_one, mark, person, _number(form, "thread"))
    return _back(request, form)


@router.post("/mark-all")
async def mark_everything(request: Request) -> Response:
    """Mark everything read that the page showed."""
    person, form = await _visitor(request), await _form(request)
    done = await _site(request).visits.run(mark_all, person, _number(form, "cutoff"))
    more = {"undo": f"{done.undo.before}.{done.undo.after}"} if done.marked.changed else {}
    return _back(request, form, **more)


@router.post("/undo")
async def take_back(request: Request) -> Response:
    """Take a mark-all back."""
    person, form = await _visitor(request), await _form(request)
    place = Cursor.parse(form.get("undo", ""))
    await _site(request).visits.run(undo_mark_all, person, Undo(place.seq, place.thread))
    return _back(request, form)


@router.get("/login")
async def ask_to_sign_in(request: Request) -> Response:
    """Show the form that a link with a token leads to; looking at it uses nothing up."""
    return render(request.scope, "sign_in.html", token=request.query_params.get("token", ""), demo=False)


@router.post("/login")
async def sign_in(request: Request) -> Response:
    """Sign in with a token, which then counts no more: the cookie has another."""
    form = await _form(request)
    try:
        token = await _site(request).visits.sign_in(form.get("token", "").strip())
    except Unauthorised:
        raise Unauthorised(
            "this token is unknown, was used to sign in before, has expired, or was revoked: ask for another"
        ) from None
    return _signed_in(request, token)


@router.post("/logout")
async def sign_out(request: Request) -> Response:
    """Sign out: the cookie's token counts no more."""
    await _form(request)
    await _site(request).visits.leave(session_token(request.headers))
    response = RedirectResponse(f"{base_of(request.scope)}/", 303)
    response.delete_cookie(COOKIE, path=base_of(request.scope) or "/")
    return response


@router.get("/static/clarion.css")
async def show_style(request: Request) -> Response:
    """Return the style of every page."""
    headers = {"ETag": STYLE_TAG, "Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff"}
    if request.headers.get("if-none-match") == STYLE_TAG:
        return Response(status_code=304, headers=headers)
    return Response(STYLE, headers=headers, media_type="text/css")


def _site(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


async def _visitor(request: Request) -> Key:
    person = await _site(request).visits.find(session_token(request.headers))
    if person is None:
        raise Unauthorised("you are not signed in, or no longer: open the link that you were given")
    return person


async def _form(request: Request) -> dict[str, str]:
    if not is_same_origin(request.headers, _site(request).public_url):
        raise Refused("this form was not sent by a page of ours")
    body = await request.body()
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _signed_in(request: Request, token: str) -> Response:
    base = base_of(request.scope)
    response = RedirectResponse(f"{base}/", 303)
    secure = _site(request).is_secure
    response.set_cookie(COOKIE, token, COOKIE_SECONDS, path=base or "/", secure=secure, httponly=True, samesite="lax")
    return response


def _back(request: Request, form: Mapping[str, str], **more: str) -> Response:
    query = {"tab": _tab(form.get("tab", Tab.UNREAD.value)).value, **more}
    return RedirectResponse(f"{base_of(request.scope)}/?{urlencode(query)}", 303)


def _tab(name: str) -> Tab:
    try:
        return Tab(name)
    except ValueError:
        raise Invalid(f"no such list: one of {', '.join(TABS)}") from None


def _number(form: Mapping[str, str], name: str) -> int:
    text = form.get(name, "")
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):  # noqa: PLR2004 - digits of a bigint
        raise Invalid(f"{name} must be a number")
    return int(text)


def _buttons(row: Row) -> list[str]:
    """Return the marks that a row offers."""
    if row.placeholder:
        return ["done"]
    offers = ["read" if row.unread else "unread", "undone" if row.done else "done"]
    if row.snoozed_until:
        offers = ["unsnooze", "done"]
    return [*offers, "unsave" if row.saved else "save"]


def _href(link: str | None) -> str:
    """Return a link that is safe to follow, to the web or within this host; else nothing."""
    if not link or not link.isprintable() or any(char.isspace() for char in link):
        return ""
    try:
        parts = urlsplit(link)
    except ValueError:
        return ""
    if parts.scheme in {"http", "https"}:
        return link if parts.netloc else ""
    within = link.startswith("/") and not link.startswith(("//", "/\\"))
    return link if within and not parts.scheme else ""
