"""Posts: comments and reviews.

Kept here: a post is written once by its key, with its event (O1, O11); a deleted one keeps its key and loses
its text; a review and the comments handed in with it are one event (W13).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from clarion.content import limits
from clarion.content.access import require_people
from clarion.content.outcome import Written
from clarion.content.threads import edit_thread, share_thread
from clarion.model.errors import Conflict, Gone, Invalid, NotFound
from clarion.model.keys import Key
from clarion.outbox.checks import check_instant
from clarion.outbox.publish import NewEvent, publish, publish_many
from clarion.store.database import Command, Row
from clarion.store.queries import ask

VERDICTS = ("approved", "changes_requested", "commented", "dismissed")
"""What a review may come to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewComment:
    """A comment handed in with a review."""

    key: str
    body: str
    link: str = ""


def add_comment(
    key: str,
    *,
    thread: str,
    body: str,
    author: Key | None = None,
    link: str = "",
    review: str | None = None,
    on_code: bool = False,
    at: datetime | None = None,
    tell: bool = True,
    edit: bool = True,
) -> Command[Written]:
    """Add a comment to a thread: `comment.created`, once by its key (O11); `tell` and `edit` as in `open_thread`.

    With `review` it is a part of that review, with `on_code` a review comment by itself. Transaction: the
    caller's; the thread is not deleted meanwhile. Raises: `Invalid` and `TooLarge` for what is malformed,
    `NotFound` for an unknown thread, review or author, `Gone` for a deleted key, thread or review, `Conflict`
    when the key is another kind of post's or stands in another thread.
    """
    _check(key, body, link)
    row = yield from share_thread(thread, author)
    part_of = None if review is None else (yield from _share_review(review, row))
    kind = "review_comment" if on_code or review is not None else "comment"
    created = yield from _insert(row, kind, [ReviewComment(key=key, body=body, link=link)], author, at, part_of=part_of)
    if not created:
        return (yield from _repeat(key, row, kind, ReviewComment(key=key, body=body, link=link), author, edit=edit))
    event = yield from _tell("comment.created" if tell else "post.recorded", row, key, author)
    return Written(created[key], key, event if tell else None, created=True, changed=True)


def submit_review(
    key: str,
    *,
    thread: str,
    verdict: str = "commented",
    body: str = "",
    author: Key | None = None,
    link: str = "",
    comments: Sequence[ReviewComment] = (),
    at: datetime | None = None,
    tell: bool = True,
    edit: bool = True,
) -> Command[Written]:
    """Hand in a review with its comments: one `review.submitted` for all of it (W13), once by its key (O11).

    A known review takes text and verdict as given, and comments that are new to it join it by events of their
    own; `tell` and `edit` as in `open_thread`. Transaction: the caller's; the thread is not deleted meanwhile.
    Raises: as `add_comment`, and `TooLarge` for more than 1,000 comments.
    """
    limits.check_choice(verdict, VERDICTS, "verdict")
    limits.check_count(len(comments), "comments")
    for post in (review := ReviewComment(key=key, body=body, link=link), *comments):
        _check(post.key, post.body, post.link)
    row = yield from share_thread(thread, author)
    created = yield from _insert(row, "review", [review], author, at, verdict=verdict)
    if not created:
        written = yield from _repeat(key, row, "review", review, author, edit=edit, verdict=verdict)
        for comment in comments if edit else ():
            yield from add_comment(
                comment.key, thread=thread, body=comment.body, author=author, link=comment.link, review=key, at=at,
                tell=tell,
            )  # fmt: skip
        return written
    parts = yield from _insert(row, "review_comment", comments, author, at, part_of=created[key])
    for comment in comments:
        if comment.key not in parts:
            yield from _repeat(comment.key, row, "review_comment", comment, author, edit=edit)
    event = yield from _tell("review.submitted" if tell else "post.recorded", row, key, author)
    return Written(created[key], key, event if tell else None, created=True, changed=True)


def edit_post(post: str, *, body: str, link: str | None = None, actor: Key | None = None) -> Command[Written]:
    """Give a comment or a review another text: `comment.edited`, or `thread.edited` for an opening post.

    The same text does nothing. Transaction: the caller's. Raises: `Invalid`, `TooLarge`, `NotFound`, `Gone`.
    """
    limits.check_text(body)
    limits.check_link(link or "")
    yield from require_people([] if actor is None else [actor])
    row = _existing((yield ask("find_post", key=post)), post)
    if row["kind"] == "opening":
        return (yield from edit_thread(row["thread_key"], body=body, link=link, actor=actor))
    _refuse_message(row)
    row = yield from _lock(post)
    return (yield from _update(row, body, row["link"] if link is None else link, row["verdict"], actor))


def dismiss_review(review: str, *, actor: Key | None = None) -> Command[Written]:
    """Let a review count no more: `thread.changed` with `review_dismissed`; nothing where it is dismissed.

    Transaction: the caller's. Raises: `NotFound`, `Gone`, `Invalid` for what is no review.
    """
    yield from require_people([] if actor is None else [actor])
    row = yield from _lock(review)
    if row["kind"] != "review":
        raise Invalid(f"the post {review} is no review")
    return (yield from _update(row, row["body"], row["link"], "dismissed", actor))


def delete_post(post: str, *, actor: Key | None = None) -> Command[Written]:
    """Delete a comment, or a review with its comments: `comment.deleted` for each, which takes back its share.

    The texts go, the keys stay, so that they stay gone. Deleting again does nothing. Transaction: the
    caller's. Raises: `NotFound`, `Invalid` for the opening post of a thread.
    """
    row = _existing((yield ask("take_post", key=post)), post)
    if row["gone"]:
        return Written(row["id"], row["key"])
    if row["kind"] == "opening":
        raise Invalid(f"the post {post} opens the thread {row['thread_key']}: delete the thread")
    _refuse_message(row)
    yield from require_people([] if actor is None else [actor])
    deleted = yield ask("delete_posts", post=row["id"])
    events = yield from publish_many(
        [
            NewEvent(
                type="comment.deleted", thread=row["thread_key"], post=gone["key"], space=row["space"], actor=actor
            )
            for gone in deleted
        ]
    )
    return Written(row["id"], row["key"], events[0], changed=True)


def _insert(
    thread: Row,
    kind: str,
    posts: Sequence[ReviewComment],
    author: Key | None,
    at: datetime | None,
    *,
    part_of: int | None = None,
    verdict: str | None = None,
) -> Command[dict[str, int]]:
    """Insert posts and return our ids by their keys; a key that is taken is left out."""
    check_instant("at", at)
    rows = yield ask(
        "insert_posts",
        thread=thread["id"], kind=kind, author=author, at=at, part_of=part_of, verdict=verdict,
        keys=[post.key for post in posts], bodies=[post.body for post in posts], links=[post.link for post in posts],
    )  # fmt: skip
    return {row["key"]: row["id"] for row in rows}


def _repeat(
    key: str,
    thread: Row,
    kind: str,
    given: ReviewComment,
    actor: Key | None,
    *,
    edit: bool,
    verdict: str | None = None,
) -> Command[Written]:
    """Do what a known key asks for: nothing, or an edit (O11)."""
    row = yield from _lock(key)
    if (row["kind"], row["thread"]) != (kind, thread["id"]):
        raise Conflict(f"the key {key} is that of a {row['kind']} in the thread {row['thread_key']}")
    if not edit:
        return Written(row["id"], key)
    return (yield from _update(row, given.body, given.link, verdict, actor))


def _update(row: Row, body: str, link: str, verdict: str | None, actor: Key | None) -> Command[Written]:
    if (row["body"], row["link"], row["verdict"]) == (body, link, verdict):
        return Written(row["id"], row["key"])
    yield ask("update_post", post=row["id"], body=body, link=link, verdict=verdict)
    place = {"key": row["thread_key"], "space": row["space"]}
    if (row["body"], row["link"]) != (body, link):
        event = yield from _tell("comment.edited", place, row["key"], actor)
    else:
        keys = {"change": f"review_{verdict}", "post": row["key"]}
        event = yield from publish(
            NewEvent(type="thread.changed", keys=keys, thread=place["key"], space=place["space"], actor=actor)
        )
    return Written(row["id"], row["key"], event, changed=True)


def _tell(event_type: str, thread: Row, post: str, actor: Key | None) -> Command[int]:
    event = NewEvent(type=event_type, thread=thread["key"], post=post, space=thread["space"], actor=actor)
    return (yield from publish(event))


def _share_review(review: str, thread: Row) -> Command[int]:
    rows = yield ask("share_review", key=review, thread=thread["id"])
    if not rows:
        raise NotFound(f"no such review in the thread {thread['key']}: {review}")
    if rows[0]["gone"]:
        raise _gone(review)
    return int(rows[0]["id"])


def _check(key: str, body: str, link: str) -> None:
    limits.check_key(key, "post")
    limits.check_text(body)
    limits.check_link(link)


def _refuse_message(row: Row) -> None:
    if row["kind"] == "message":
        raise Invalid(f"the post {row['key']} is a message to its readers: delete its thread, and notify again")


def _lock(post: str) -> Command[Row]:
    row = _existing((yield ask("lock_post", key=post)), post)
    if row["gone"]:
        raise _gone(post)
    return row


def _existing(rows: list[Row], post: str) -> Row:
    if not rows:
        raise NotFound(f"no such post: {post}")
    return rows[0]


def _gone(post: str) -> Gone:
    return Gone(f"the post {post} was deleted, and its key stays gone")
