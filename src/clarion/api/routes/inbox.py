"""A person's own inbox: what it shows, and what is marked in it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from clarion.api.door import PersonDoor, PersonPost, respond_if_new
from clarion.api.shapes import HostKey, Id, In, Instant, KeyIn, MarkedOut, Number, Out, Text, marked, refusals
from clarion.inbox import mark_all as all_of_it
from clarion.inbox.listing import get_row, list_rows, state
from clarion.inbox.marks import snooze
from clarion.inbox.reading import read_post, read_thread
from clarion.model.errors import Invalid, NotFound
from clarion.model.inbox import MAX_PAGE, Cursor, Marked, MarkedAll, Tab, Undo
from clarion.model.reasons import Reason
from clarion.web.marks import MARKS, Mark, mark_one, snooze_one

router = APIRouter(tags=["inbox"], responses=refusals())


class StateOut(Out):
    """The badge."""

    version: int
    unread_count: int
    unseen: bool = Field(description="Whether anything unread came since the inbox was last opened: the colour.")


class MeOut(StateOut):
    """Whose token this is, and the badge."""

    person: Id


class RowOut(Out):
    """A notification. A placeholder says nothing of its thing, and can be marked done."""

    thread: Id = Field(description="What marks take.")
    key: str | None = Field(description="The host's key of the thread.")
    space: Id | None
    thread_kind: str | None
    title: str | None
    link: str | None
    reason: Reason
    latest_kind: str | None
    actor: Id | None = Field(description="Who wrote the latest post.")
    actor_handle: str | None
    first_unread: str | None = Field(description="The key of the first unread post.")
    posts_unread: int
    seq: int
    active_at: datetime
    unread: bool
    saved: bool
    done: bool
    snoozed_until: datetime | None
    subscribed: bool
    placeholder: bool


class PageOut(Out):
    """A page of a list."""

    rows: Sequence[RowOut]
    next: Id | None = Field(description="The `before` of the next page; null at the end.")
    state: StateOut = Field(description="Its version is the cutoff for marking all that is shown.")


class ThreadsIn(In):
    """Some rows."""

    threads: list[Annotated[Text, Field(pattern=r"^[0-9]{1,18}$")]] = Field(max_length=MAX_PAGE)


class UntilIn(In):
    """Until when."""

    until: Instant = Field(description="In the future.")


class ThreadsUntilIn(ThreadsIn):
    """Some rows, and until when."""

    until: Instant = Field(description="In the future.")


class MarkAllIn(In):
    """What to mark."""

    cutoff: Annotated[int, Field(ge=0, le=2**62)] | Instant = Field(
        description="The version of the page that was shown, or an instant: what came later stays unread."
    )
    space: KeyIn | None = Field(None, description="This space alone; needs a version, and has no undo.")


class MarkedAllOut(MarkedOut):
    """What was marked, and how to take it back."""

    undo: str | None = Field(description="For POST /v1/inbox/mark-all/undo.")


class UndoIn(In):
    """What to take back."""

    undo: Text = Field(pattern=r"^[0-9]{1,18}\.[0-9]{1,18}$")


class SeenIn(In):
    """What was shown."""

    version: int = Field(ge=0, le=2**62)


class ReadIn(In):
    """What was read, by the host's keys."""

    thread: HostKey | None = None
    post: HostKey | None = Field(None, description="Up to this post; later ones stay unread.")


@router.get("/v1/me", response_model=MeOut, responses={304: {"description": "As you have it."}})
async def show_me(request: Request, door: PersonDoor) -> Response:
    """Show the badge: how much is unread, and whether anything is new.

    With If-None-Match it answers 304 exactly when nothing of it changed: cheap enough to ask often.
    """
    now = await door.run(state, door.me)
    return respond_if_new(request, MeOut(person=str(door.me), **StateOut.model_validate(now).model_dump()))


@router.get("/v1/inbox", response_model=PageOut, responses={304: {"description": "As you have it."}})
async def list_inbox(
    *,
    request: Request,
    door: PersonDoor,
    tab: Annotated[Tab, Query(description="Which list.")] = Tab.UNREAD,
    reason: Annotated[Reason | None, Query(description="Only rows with this reason.")] = None,
    space: Annotated[str | None, Query(min_length=1, max_length=200, description="Only this space.")] = None,
    kind: Annotated[Text | None, Query(max_length=40, description="Only this kind of thread.")] = None,
    before: Annotated[Text | None, Query(max_length=40, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Rows of a page.")] = 50,
) -> Response:
    """List notifications, newest activity first.

    Without a filter the unread list is exactly what the badge counts. A page with a filter may be short, even
    empty, while `next` is set.
    """
    page = await door.run(
        list_rows,
        door.me,
        tab=tab,
        reason=reason,
        space=None if space is None else door.space(space),
        kind=kind,
        before=None if before is None else Cursor.parse(before),
        limit=limit,
    )
    return respond_if_new(request, PageOut.model_validate(page))


@router.get("/v1/inbox/{thread}", response_model=RowOut, responses=refusals(NotFound))
async def show_row(request: Request, thread: Number, door: PersonDoor) -> Response:
    """Show one notification."""
    return respond_if_new(request, RowOut.model_validate(await door.run(get_row, door.me, int(thread))))


@router.post("/v1/inbox/mark-all", response_model=MarkedAllOut)
async def mark_all(what: MarkAllIn, door: PersonPost) -> Response:
    """Mark everything read up to a cutoff.

    What came after the page that was shown stays unread.
    """
    if what.space is None:
        return await door.answer(_marked_all, all_of_it.mark_all, door.me, what.cutoff)
    if isinstance(what.cutoff, datetime):
        raise Invalid("cutoff: with a space it is the version of the page that was shown")
    return await door.answer(_marked_space, all_of_it.mark_space, door.me, door.space(what.space), what.cutoff)


@router.post("/v1/inbox/mark-all/undo", response_model=MarkedOut)
async def undo_mark_all(what: UndoIn, door: PersonPost) -> Response:
    """Take a mark-all back, but for what was read since."""
    before, _, after = what.undo.partition(".")
    return await door.answer(marked, all_of_it.undo_mark_all, door.me, Undo(int(before), int(after)))


@router.post("/v1/inbox/seen", response_model=MarkedOut)
async def mark_seen(what: SeenIn, door: PersonPost) -> Response:
    """Note that the inbox was opened and showed this version: it colours the badge no more."""
    return await door.answer(marked, all_of_it.seen, door.me, what.version)


@router.post("/v1/read", response_model=MarkedOut)
async def read_the_thing(what: ReadIn, door: PersonPost) -> Response:
    """Note that the person has read a thread, or a thread up to a post, on your own page.

    Also what of it is on its way will be read when it arrives.
    """
    if what.post is not None:
        return await door.answer(marked, read_post, door.me, what.post, thread=what.thread)
    if what.thread is None:
        raise Invalid("name a thread or a post, by your key of it")
    return await door.answer(marked, read_thread, door.me, what.thread)


@router.post("/v1/inbox/snooze", response_model=MarkedOut)
async def snooze_many(rows: ThreadsUntilIn, door: PersonPost) -> Response:
    """Put rows away until a time, when they come back as unread."""
    return await door.answer(marked, snooze, door.me, _numbers(rows), rows.until)


@router.post("/v1/inbox/{thread}/snooze", response_model=MarkedOut, responses=refusals(NotFound))
async def snooze_a_row(thread: Number, when: UntilIn, door: PersonPost) -> Response:
    """Put a row away until a time, when it comes back as unread."""
    return await door.answer(marked, snooze_one, door.me, int(thread), when.until)


def _add_mark(mark: Mark) -> None:
    """Add the two routes of a mark: for a list of rows, and for one."""

    async def of_many(rows: ThreadsIn, door: PersonPost) -> Response:
        return await door.answer(marked, mark.command, door.me, _numbers(rows))

    async def of_one(thread: Number, door: PersonPost) -> Response:
        return await door.answer(marked, mark_one, mark, door.me, int(thread))

    router.add_api_route(
        f"/v1/inbox/{mark.name}",
        of_many,
        methods=["POST"],
        name=f"{mark.name}_many",
        response_model=MarkedOut,
        description=f"{mark.promise} Rows that are not the person's are passed over.",
    )
    router.add_api_route(
        f"/v1/inbox/{{thread}}/{mark.name}",
        of_one,
        methods=["POST"],
        name=f"{mark.name}_a_row",
        response_model=MarkedOut,
        description=mark.promise,
        responses=refusals(NotFound),
    )


for _mark in MARKS.values():
    _add_mark(_mark)


def _numbers(rows: ThreadsIn) -> list[int]:
    return [int(thread) for thread in rows.threads]


def _marked_all(outcome: MarkedAll) -> MarkedAllOut:
    undo = f"{outcome.undo.before}.{outcome.undo.after}"
    return MarkedAllOut(**marked(outcome.marked).model_dump(), undo=undo)


def _marked_space(outcome: Marked) -> MarkedAllOut:
    return MarkedAllOut(**marked(outcome).model_dump(), undo=None)
