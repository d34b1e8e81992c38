"""Threads, and who has a role in them."""

from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from clarion.api.door import HostDoor, HostPost
from clarion.api.shapes import (
    SYSTEM,
    Actor,
    ActorIn,
    ActorQuery,
    HostKey,
    In,
    Instant,
    KeyIn,
    RolesOut,
    Storable,
    Text,
    WrittenOut,
    key_of,
    refusals,
    roles,
    written,
)
from clarion.content import roles as commands
from clarion.content.housekeeping import record_change
from clarion.content.limits import MAX_PEOPLE
from clarion.content.threads import (
    close_thread,
    delete_thread,
    edit_thread,
    merge_thread,
    move_thread,
    open_thread,
    reopen_thread,
)
from clarion.model.errors import Conflict, Gone, NotFound

router = APIRouter(tags=["threads"], responses=refusals(NotFound, Conflict, Gone))

ThreadPath = Annotated[str, key_of("thread"), Storable]


class ThreadIn(In):
    """A thread with its opening post, as it is to be."""

    space: KeyIn = Field(description="The space that it stands in; of a known thread it stays.")
    kind: Literal["issue", "pull_request", "discussion", "forum_thread"]
    title: Text
    body: Annotated[Text, Field(description="The opening post, Markdown, at most 65,536 bytes.")] = ""
    link: Annotated[Text, Field(description="Where people read it.")] = ""
    author: Actor = None
    at: Annotated[Instant | None, Field(description="When it was opened, if not now.")] = None
    state: Annotated[Literal["open", "closed", "merged"], Field(description="Of a new thread.")] = "open"
    tell: Annotated[bool, Field(description="False: nobody hears; what was there before Clarion was.")] = True


class ThreadChange(In):
    """What is to change of a thread; what is left out stays."""

    title: Text | None = None
    body: Text | None = None
    link: Text | None = None
    actor: Actor = None


class MoveIn(In):
    """Where a thread goes."""

    to: KeyIn = Field(description="The space.")
    key: HostKey | None = Field(None, description="What you call it there, if otherwise; its first key goes on.")
    link: Text | None = None
    actor: Actor = None


class ChangeIn(In):
    """Something small that was done to a thread."""

    change: Text = Field(examples=["labeled", "locked", "milestoned"])
    actor: Actor = None


class PeopleIn(In):
    """People in a role."""

    people: list[KeyIn] = Field(max_length=MAX_PEOPLE)
    actor: Actor = None


class ReviewersIn(In):
    """People and teams that are asked for review."""

    people: list[KeyIn] = Field([], max_length=MAX_PEOPLE)
    teams: list[HostKey] = Field([], max_length=MAX_PEOPLE)
    actor: Actor = None


@router.put("/v1/threads/{thread:key}", response_model=WrittenOut, responses={201: {"model": WrittenOut}})
async def put_thread(thread: ThreadPath, new: ThreadIn, door: HostDoor) -> Response:
    """Open a thread with its opening post, or edit it.

    A known key with the same content does nothing, with another is an edit by the author. A deleted key stays
    gone.
    """
    return await door.answer(
        written,
        open_thread,
        thread,
        space=door.space(new.space),
        author=door.person_if(new.author),
        **new.model_dump(exclude={"space", "author"}),
    )


@router.patch("/v1/threads/{thread:key}", response_model=WrittenOut)
async def edit_a_thread(thread: ThreadPath, change: ThreadChange, door: HostDoor) -> Response:
    """Give a thread another title, opening text or link.

    Those hear whom the text names now and did not before.
    """
    return await door.answer(
        written,
        edit_thread,
        thread,
        title=change.title,
        body=change.body,
        link=change.link,
        actor=door.person_if(change.actor),
    )


@router.delete("/v1/threads/{thread:key}", response_model=WrittenOut)
async def delete_a_thread(thread: ThreadPath, door: HostDoor, actor: ActorQuery) -> Response:
    """Delete a thread with its posts, and its notifications. The keys stay gone."""
    return await door.answer(written, delete_thread, thread, actor=actor)


@router.post("/v1/threads/{thread:key}/close", response_model=WrittenOut)
async def close_a_thread(thread: ThreadPath, door: HostPost, by: ActorIn = SYSTEM) -> Response:
    """Close a thread."""
    return await door.answer(written, close_thread, thread, actor=door.person_if(by.actor))


@router.post("/v1/threads/{thread:key}/reopen", response_model=WrittenOut)
async def reopen_a_thread(thread: ThreadPath, door: HostPost, by: ActorIn = SYSTEM) -> Response:
    """Open a closed thread again."""
    return await door.answer(written, reopen_thread, thread, actor=door.person_if(by.actor))


@router.post("/v1/threads/{thread:key}/merge", response_model=WrittenOut)
async def merge_a_thread(thread: ThreadPath, door: HostPost, by: ActorIn = SYSTEM) -> Response:
    """Merge a pull request, which closes it too."""
    return await door.answer(written, merge_thread, thread, actor=door.person_if(by.actor))


@router.post("/v1/threads/{thread:key}/move", response_model=WrittenOut)
async def move_a_thread(thread: ThreadPath, move: MoveIn, door: HostPost) -> Response:
    """Put a thread into another space.

    Who may not read that space does not see it any more.
    """
    return await door.answer(
        written,
        move_thread,
        thread,
        to=door.space(move.to),
        actor=door.person_if(move.actor),
        key=move.key,
        link=move.link,
    )


@router.post("/v1/threads/{thread:key}/changes", response_model=WrittenOut)
async def record_a_change(thread: ThreadPath, new: ChangeIn, door: HostPost) -> Response:
    """Record housekeeping: labels, locks and the like.

    Notifies nobody but those who asked to hear of such.
    """
    return await door.answer(written, record_change, thread, new.change, actor=door.person_if(new.actor))


@router.post("/v1/threads/{thread:key}/assign", response_model=RolesOut)
async def assign_people(thread: ThreadPath, who: PeopleIn, door: HostPost) -> Response:
    """Assign people to a thread; those who were not hear of it."""
    return await door.answer(roles, commands.assign, thread, door.people(who.people), actor=door.person_if(who.actor))


@router.post("/v1/threads/{thread:key}/unassign", response_model=RolesOut)
async def unassign_people(thread: ThreadPath, who: PeopleIn, door: HostPost) -> Response:
    """Take assignments back, with what is unread of them."""
    return await door.answer(roles, commands.unassign, thread, door.people(who.people), actor=door.person_if(who.actor))


@router.post("/v1/threads/{thread:key}/request-review", response_model=RolesOut)
async def request_a_review(thread: ThreadPath, who: ReviewersIn, door: HostPost) -> Response:
    """Ask people and teams for review; those who were not asked yet hear of it."""
    return await door.answer(
        roles,
        commands.request_review,
        thread,
        door.people(who.people),
        teams=who.teams,
        actor=door.person_if(who.actor),
    )


@router.post("/v1/threads/{thread:key}/withdraw-review-request", response_model=RolesOut)
async def withdraw_a_review_request(thread: ThreadPath, who: ReviewersIn, door: HostPost) -> Response:
    """Take requests for review back, with what is unread of them."""
    return await door.answer(
        roles,
        commands.remove_review_request,
        thread,
        door.people(who.people),
        teams=who.teams,
        actor=door.person_if(who.actor),
    )
