"""Comments and reviews."""

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
    Storable,
    Text,
    WrittenOut,
    key_of,
    refusals,
    written,
)
from clarion.content.limits import MAX_PEOPLE
from clarion.content.posts import ReviewComment, add_comment, delete_post, dismiss_review, edit_post, submit_review
from clarion.model.errors import Conflict, Gone, NotFound

router = APIRouter(tags=["posts"], responses=refusals(NotFound, Conflict, Gone))

PostPath = Annotated[str, key_of("post"), Storable]

Body = Annotated[Text, Field(description="Markdown, at most 65,536 bytes.")]
Link = Annotated[Text, Field(description="Where people read it.")]
At = Annotated[Instant | None, Field(description="When it was written, if not now.")]
Tell = Annotated[bool, Field(description="False: nobody hears; what was there before Clarion was.")]


class CommentIn(In):
    """A comment, as it is to be."""

    thread: HostKey
    body: Body
    author: Actor = None
    link: Link = ""
    review: Annotated[HostKey | None, Field(description="The review that it is a part of.")] = None
    on_code: Annotated[bool, Field(description="A review comment by itself.")] = False
    at: At = None
    tell: Tell = True


class ReviewCommentIn(In):
    """A comment handed in with a review."""

    key: HostKey
    body: Body
    link: Link = ""


class ReviewIn(In):
    """A review with its comments, as it is to be."""

    thread: HostKey
    verdict: Literal["approved", "changes_requested", "commented", "dismissed"] = "commented"
    body: Body = ""
    author: Actor = None
    link: Link = ""
    comments: list[ReviewCommentIn] = Field([], max_length=MAX_PEOPLE)
    at: At = None
    tell: Tell = True


class PostChange(In):
    """Another text for a post."""

    body: Body
    link: Text | None = None
    actor: Actor = None


@router.put("/v1/comments/{post:key}", response_model=WrittenOut, responses={201: {"model": WrittenOut}})
async def put_comment(post: PostPath, new: CommentIn, door: HostDoor) -> Response:
    """Add a comment to a thread, or edit it.

    A known key with the same content does nothing, with another is an edit. A deleted key stays gone.
    """
    author = door.person_if(new.author)
    return await door.answer(written, add_comment, post, author=author, **new.model_dump(exclude={"author"}))


@router.put("/v1/reviews/{post:key}", response_model=WrittenOut, responses={201: {"model": WrittenOut}})
async def put_review(post: PostPath, new: ReviewIn, door: HostDoor) -> Response:
    """Hand in a review with its comments, or edit it: one event for all of it."""
    return await door.answer(
        written,
        submit_review,
        post,
        author=door.person_if(new.author),
        comments=[ReviewComment(**each.model_dump()) for each in new.comments],
        **new.model_dump(exclude={"author", "comments"}),
    )


@router.post("/v1/reviews/{post:key}/dismiss", response_model=WrittenOut)
async def dismiss_a_review(post: PostPath, door: HostPost, by: ActorIn = SYSTEM) -> Response:
    """Let a review count no more."""
    return await door.answer(written, dismiss_review, post, actor=door.person_if(by.actor))


@router.patch("/v1/posts/{post:key}", response_model=WrittenOut)
async def edit_a_post(post: PostPath, change: PostChange, door: HostDoor) -> Response:
    """Give a comment, a review or an opening post another text.

    Those hear whom it names now and did not before.
    """
    return await door.answer(
        written, edit_post, post, body=change.body, link=change.link, actor=door.person_if(change.actor)
    )


@router.delete("/v1/posts/{post:key}", response_model=WrittenOut)
async def delete_a_post(post: PostPath, door: HostDoor, actor: ActorQuery) -> Response:
    """Delete a comment, or a review with its comments, with what is unread of it. The key stays gone."""
    return await door.answer(written, delete_post, post, actor=actor)
