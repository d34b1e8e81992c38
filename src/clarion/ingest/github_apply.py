"""What a payload's values mean here: each becomes commands of the content room, in the order given.

Kept here: applying a value twice is applying it once. What is only made sure of is silent: a thread or post that
was there before Clarion heard of it has no event, and one that is known is left alone. Whose transaction: the
caller's; all of a payload's values go into one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from clarion.content import housekeeping, posts, roles, threads
from clarion.content.outcome import Written
from clarion.ingest import commands as to
from clarion.ingest import github_places as places
from clarion.ingest.facts import PostFacts, ThreadFacts
from clarion.ingest.github_places import Events
from clarion.model.errors import Conflict, NotFound
from clarion.model.text import find_mentions
from clarion.store.database import Command

Facts = TypeVar("Facts", ThreadFacts, PostFacts)


def apply_commands(values: Sequence[to.Command]) -> Command[list[int]]:
    """Apply values in their order and return the ids of the events that tell of them.

    Transaction: the caller's. Raises: the content room's errors; `Gone` for what was deleted since, so that a
    payload of long ago brings nothing back.
    """
    bodies = {_edited(value): value.body for value in values if isinstance(value, to.EditThread | to.EditPost)}
    events: list[int] = []
    for value in values:
        found: Events = ()
        match value:
            case to.EnsureThread():
                yield from _open(_unless_news(value.facts, bodies), tell=False)
            case to.EnsurePost():
                yield from _add(_unless_news(value.facts, bodies), tell=False)
            case _:
                found = yield from _APPLY[type(value)](value)
        events += [event for event in found if event is not None]
    return events


def _unless_news(facts: Facts, bodies: Mapping[str, str]) -> Facts:
    """Give what to make sure of before an edit: at once the text after it, where that names nobody more.

    Who was named long ago must not hear of it now (W12): what is unknown here is then as edited, and no event tells.
    """
    after = bodies.get(facts.key)
    if after is None:
        return facts
    old, new = find_mentions(facts.body), find_mentions(after)
    names_more = set(new.people) - set(old.people) or set(new.teams) - set(old.teams)
    return facts if names_more else replace(facts, body=after)


def _edited(value: to.EditThread | to.EditPost) -> str:
    return value.post if isinstance(value, to.EditPost) else value.thread


def _open(facts: ThreadFacts, *, tell: bool) -> Command[Written]:
    return threads.open_thread(
        facts.key,
        space=facts.space,
        kind=facts.kind,
        title=facts.title,
        body=facts.body,
        link=facts.link,
        author=facts.author,
        at=facts.created_at,
        state="closed" if facts.is_closed else "open",
        tell=tell,
        edit=False,
    )


def _add(facts: PostFacts, *, tell: bool) -> Command[Written]:
    """Add a comment or a review. A review comment that comes before its review stands by itself."""
    given: dict[str, Any] = {
        "thread": facts.thread,
        "body": facts.body,
        "author": facts.author,
        "link": facts.link,
        "at": facts.created_at,
        "tell": tell,
        "edit": False,
    }
    if facts.kind == "review":
        return (yield from posts.submit_review(facts.key, verdict=facts.state or "commented", **given))
    on_code = facts.kind == "review_comment"
    try:
        return (yield from posts.add_comment(facts.key, review=facts.review, on_code=on_code, **given))
    except NotFound:
        if facts.review is None:
            raise
        return (yield from posts.add_comment(facts.key, on_code=on_code, **given))


def _of(command: Command[Written]) -> Command[Events]:
    return ((yield from command).event,)


def _edit_thread(value: to.EditThread) -> Command[Events]:
    return _of(threads.edit_thread(value.thread, title=value.title, body=value.body, actor=value.actor))


def _close(value: to.CloseThread) -> Command[Events]:
    close = threads.merge_thread if value.merged else threads.close_thread
    return _of(close(value.thread, actor=value.actor))


def _move(value: to.MoveThread) -> Command[Events]:
    """Move a thread under its new key; where that is known as a thread of its own, the old one is gone."""
    try:
        written = yield from threads.move_thread(
            value.thread, to=value.to_space, key=value.to_key, link=value.link, actor=value.actor
        )
    except Conflict:
        written = yield from threads.delete_thread(value.thread, actor=value.actor)
    return (written.event,)


def _role(value: to.Assign | to.Unassign | to.RequestReview | to.RemoveReviewRequest) -> Command[Events]:
    people = [] if value.person is None else [value.person]
    match value:
        case to.Assign():
            change = yield from roles.assign(value.thread, people, actor=value.actor)
        case to.Unassign():
            change = yield from roles.unassign(value.thread, people, actor=value.actor)
        case to.RequestReview():
            change = yield from roles.request_review(value.thread, people, teams=_team(value), actor=value.actor)
        case _:
            change = yield from roles.remove_review_request(value.thread, people, teams=_team(value), actor=value.actor)
    return change.events


def _team(value: to.RequestReview | to.RemoveReviewRequest) -> list[str]:
    return [] if value.team is None else [str(value.team)]


_APPLY: Mapping[type[to.Command], Callable[[Any], Command[Events]]] = {
    to.EnsurePerson: places.ensure_person,
    to.EnsureOrganisation: places.ensure_organisation,
    to.EnsureSpace: places.ensure_space,
    to.EnsureTeam: places.ensure_team,
    to.OpenThread: lambda value: _of(_open(value.facts, tell=True)),
    to.EditThread: _edit_thread,
    to.DeleteThread: lambda value: _of(threads.delete_thread(value.thread, actor=value.actor)),
    to.MoveThread: _move,
    to.CloseThread: _close,
    to.ReopenThread: lambda value: _of(threads.reopen_thread(value.thread, actor=value.actor)),
    to.Housekeeping: lambda value: _of(housekeeping.record_change(value.thread, value.kind, actor=value.actor)),
    to.AddPost: lambda value: _of(_add(value.facts, tell=True)),
    to.SubmitReview: lambda value: _of(_add(value.facts, tell=True)),
    to.EditPost: lambda value: _of(posts.edit_post(value.post, body=value.body, actor=value.actor)),
    to.DeletePost: lambda value: _of(posts.delete_post(value.post, actor=value.actor)),
    to.DismissReview: lambda value: _of(posts.dismiss_review(value.post, actor=value.actor)),
    to.Assign: _role,
    to.Unassign: _role,
    to.RequestReview: _role,
    to.RemoveReviewRequest: _role,
    to.SetMember: places.set_member,
    to.RemoveMember: places.remove_member,
    to.GrantTeam: places.change_access,
    to.RevokeTeam: places.change_access,
    to.SetVisibility: places.change_access,
    to.DeleteTeam: places.delete_place,
    to.DeleteSpace: places.delete_place,
}
