"""Threads: issues, pull requests, discussions, forum threads.

Kept here: a thread and its opening post are written together; its key stays what it was, through renames and
moves, and stays gone once deleted (O11, W17). Every change that someone may hear of is an event (O1).
"""

from datetime import datetime

from clarion.content import limits
from clarion.content.access import require_people
from clarion.content.outcome import Written
from clarion.content.spaces import share_space
from clarion.model.errors import Conflict, Gone, Invalid, NotFound
from clarion.model.keys import Key
from clarion.outbox.checks import check_instant
from clarion.outbox.publish import NewEvent, publish
from clarion.store.database import Command, Row
from clarion.store.queries import ask

KINDS = ("issue", "pull_request", "discussion", "forum_thread")
STATES = ("open", "closed", "merged")


def opening_key(thread: str) -> str:
    """Return the key of a thread's opening post."""
    return f"{thread}:opening"


def open_thread(
    key: str,
    *,
    space: Key,
    kind: str,
    title: str,
    body: str = "",
    link: str = "",
    author: Key | None = None,
    at: datetime | None = None,
    state: str = "open",
    tell: bool = True,
    edit: bool = True,
) -> Command[Written]:
    """Open a thread with its opening post: `thread.opened`, once by its key (O11).

    A known key with the same content does nothing, with another is an edit by its author; with `edit=False` it
    is left alone (an old message that is played again must not undo a later edit). With `tell=False` a new
    thread is told to nobody, though its author follows it: what was there before Clarion was. Space and kind of
    a known thread stay. Transaction: the caller's. Raises: `Invalid` and `TooLarge` for what is malformed,
    `NotFound` for an unknown space or author, `Gone` for a deleted key or space.
    """
    limits.check_key(key, "thread")
    limits.check_choice(kind, KINDS, "kind of thread")
    limits.check_choice(state, STATES, "state of a thread")
    if state == "merged" and kind != "pull_request":
        raise Invalid(f"a thread of kind {kind} cannot be merged: only a pull request can")
    _check(title, body, link)
    check_instant("at", at)
    yield from share_space(space)
    yield from require_people([] if author is None else [author])
    opening = opening_key(key)
    created = yield ask(
        "insert_thread",
        key=key, space=space, kind=kind, title=title, link=link, author=author, state=state, at=at,
        post=opening, body=body,
    )  # fmt: skip
    if not created:
        if edit:
            return (yield from edit_thread(key, title=title, body=body, link=link, actor=author))
        known = yield from share_thread(key)
        return Written(known["id"], known["key"])
    news = NewEvent(
        type="thread.opened" if tell else "post.recorded", thread=key, post=opening, space=space, actor=author
    )
    event = yield from publish(news)
    return Written(created[0]["id"], key, event if tell else None, created=True, changed=True)


def edit_thread(
    thread: str,
    *,
    title: str | None = None,
    body: str | None = None,
    link: str | None = None,
    actor: Key | None = None,
) -> Command[Written]:
    """Give a thread another title, opening text or link, what is not given stays: `thread.edited` if it changes.

    Transaction: the caller's. Raises: `Invalid`, `TooLarge`, `NotFound`, `Gone`.
    """
    _check(title, body, link)
    row = yield from lock_thread(thread, actor)
    if not (yield ask("update_content_thread", thread=row["id"], title=title, body=body, link=link)):
        return Written(row["id"], row["key"])
    return (yield from _tell("thread.edited", row, actor, post=opening_key(row["key"])))


def close_thread(thread: str, *, actor: Key | None = None) -> Command[Written]:
    """Close a thread: `thread.closed`; nothing where it is closed or merged already.

    Transaction: the caller's. Raises: `NotFound`, `Gone`.
    """
    row = yield from lock_thread(thread, actor)
    return (yield from _set_state(row, "closed", "thread.closed", actor, unless=("closed", "merged")))


def reopen_thread(thread: str, *, actor: Key | None = None) -> Command[Written]:
    """Open a closed thread again: `thread.reopened`; nothing where it is open.

    Transaction: the caller's. Raises: `NotFound`, `Gone`, `Invalid` for a merged one.
    """
    row = yield from lock_thread(thread, actor)
    if row["state"] == "merged":
        raise Invalid(f"the pull request {thread} is merged and cannot be opened again")
    return (yield from _set_state(row, "open", "thread.reopened", actor, unless=("open",)))


def merge_thread(thread: str, *, actor: Key | None = None) -> Command[Written]:
    """Merge a pull request, which closes it too: `thread.merged`; nothing where it is merged already.

    Transaction: the caller's. Raises: `NotFound`, `Gone`, `Invalid` for what is no pull request.
    """
    row = yield from lock_thread(thread, actor)
    if row["kind"] != "pull_request":
        raise Invalid(f"the thread {thread} cannot be merged: it is no pull request")
    return (yield from _set_state(row, "merged", "thread.merged", actor, unless=("merged",)))


def delete_thread(thread: str, *, actor: Key | None = None) -> Command[Written]:
    """Delete a thread with its posts: `thread.deleted`, which takes its notifications along (W15).

    Texts and roles go, keys stay, so that they stay gone. Deleting again does nothing. Transaction: the
    caller's; comments under way are waited for. Raises: `NotFound`.
    """
    rows = yield ask("take_content_thread", key=thread)
    row = _existing(rows, thread)
    if row["gone"]:
        return Written(row["id"], row["key"])
    yield from _require_actor(actor)
    yield ask("delete_content_thread", thread=row["id"])
    return (yield from _tell("thread.deleted", row, actor))


def move_thread(
    thread: str, *, to: Key, actor: Key | None = None, key: str | None = None, link: str | None = None
) -> Command[Written]:
    """Put a thread into another space: `thread.moved`, which hides it from those who may not read that (W15).

    A `key` that the host gives it there is another name of the same thread for every command from now on;
    events go on naming it by its first key (W17). Moving again does nothing. Transaction: the caller's.
    Raises: `Invalid`, `TooLarge`, `NotFound`, `Gone`, `Conflict` when the new key is another thread's.
    """
    if key is not None:
        limits.check_key(key, "thread")
    limits.check_link(link or "")
    yield from share_space(to)
    row = yield from lock_thread(thread, actor)
    if key is not None:
        yield from _give_alias(row, key)
    if not (yield ask("move_content_thread", thread=row["id"], space=to, link=link)):
        return Written(row["id"], row["key"])
    return (yield from _tell("thread.moved", {**row, "space": to}, actor))


def share_thread(thread: str, actor: Key | None = None) -> Command[Row]:
    """Return the thread's row, which is not deleted before the end of the transaction.

    Raises: `NotFound` for an unknown thread or actor, `Gone`.
    """
    yield from _require_actor(actor)
    return _living((yield ask("share_content_thread", key=thread)), thread)


def lock_thread(thread: str, actor: Key | None = None) -> Command[Row]:
    """Return the thread's row, which nobody else changes in this transaction. Raises: as `share_thread`."""
    yield from _require_actor(actor)
    return _living((yield ask("lock_content_thread", key=thread)), thread)


def _set_state(
    row: Row, state: str, event_type: str, actor: Key | None, *, unless: tuple[str, ...]
) -> Command[Written]:
    if row["state"] in unless:
        return Written(row["id"], row["key"])
    yield ask("set_thread_state", thread=row["id"], state=state)
    return (yield from _tell(event_type, row, actor))


def _tell(event_type: str, row: Row, actor: Key | None, post: str | None = None) -> Command[Written]:
    event = yield from publish(NewEvent(type=event_type, thread=row["key"], post=post, space=row["space"], actor=actor))
    return Written(row["id"], row["key"], event, changed=True)


def _give_alias(row: Row, key: str) -> Command[None]:
    known = yield ask("share_content_thread", key=key)
    if not known:
        yield ask("add_thread_alias", key=key, thread=row["id"])
    elif known[0]["id"] != row["id"]:
        raise Conflict(f"the key {key} is another thread's")


def _require_actor(actor: Key | None) -> Command[None]:
    yield from require_people([] if actor is None else [actor])


def _check(title: str | None, body: str | None, link: str | None) -> None:
    if title is not None:
        limits.check_title(title)
    limits.check_text(body or "", "opening text")
    limits.check_link(link or "")


def _existing(rows: list[Row], thread: str) -> Row:
    if not rows:
        raise NotFound(f"no such thread: {thread}")
    return rows[0]


def _living(rows: list[Row], thread: str) -> Row:
    if _existing(rows, thread)["gone"]:
        raise Gone(f"the thread {thread} was deleted, and its key stays gone")
    return rows[0]
