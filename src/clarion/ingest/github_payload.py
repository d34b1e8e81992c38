"""One webhook payload of GitHub, read into what must hold afterwards.

Kept here: a payload comes out as values (`commands`), as `Ignored` with a reason in words, or as
`ForeignPayload`; reading one touches nothing, and the same bytes always give the same values. What a
payload has besides the fields that are read may be anything (`github_shape`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from clarion.ingest import commands as to
from clarion.ingest import github_shape as shape
from clarion.ingest.facts import PostFacts, Scope, ThreadFacts
from clarion.ingest.github_reading import ForeignPayload, Reading

__all__ = ["HOUSEKEEPING", "ForeignPayload", "Ignored", "read_payload"]

HOUSEKEEPING: Final = frozenset((
    "labeled", "unlabeled", "locked", "unlocked", "pinned", "unpinned", "milestoned", "demilestoned", "typed",
    "untyped", "synchronize", "ready_for_review", "converted_to_draft", "enqueued", "dequeued",
    "auto_merge_enabled", "auto_merge_disabled",
))  # fmt: skip
"""What is recorded of a thread and told to nobody who did not ask for it (W14)."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A payload of GitHub's that changes nothing here, and why."""

    reason: str


def read_payload(content: bytes, *, name: str = "", event: str | None = None) -> tuple[to.Command, ...] | Ignored:
    """Reads one payload into the values to be applied in their order, all or none.

    `event` is GitHub's word for what happened (the header `X-GitHub-Event`). Where it is not given it is
    taken from the `name` of the file (`EVENT.NUMBER.ACTION.json`, `NUMBER.EVENT.ACTION.json`), and where that
    has none, from the fields that are there.

    Raises `ForeignPayload` for whatever is no payload of GitHub's, or a broken one.
    """
    reading = Reading(content)
    event = event or _event_in_name(name) or _event_by_fields(reading)
    if event not in _EVENTS:
        return Ignored(f"{event} events are not read" if event else "not one of the events that are read")
    if not _EVENTS[event](reading):
        return Ignored(f"{event} events with the action {reading.action[:40]!r} are not read")
    return reading.said()


def _issues(payload: Reading) -> bool:
    facts = payload.thread(payload.read("issue", shape.Issue), payload.space())
    if payload.action == "transferred":
        there = payload.read("changes", shape.Transfer)
        return _move(payload, facts, payload.thread(there.new_issue, payload.space(there.new_repository)))
    if payload.action == "opened" and "changes" in payload.fields:
        here = payload.read("changes", shape.Arrival)
        if here.old_issue and here.old_repository:
            return _move(payload, payload.thread(here.old_issue, payload.space(here.old_repository)), facts)
    return _thread(payload, facts)


def _pull_request(payload: Reading) -> bool:
    pull = payload.read("pull_request", shape.PullRequest)
    facts = payload.thread(pull, payload.space())
    actor = payload.actor
    match payload.action:
        case "closed":
            payload.say(to.EnsureThread(facts=replace(facts, is_closed=False)))
            payload.say(to.CloseThread(thread=facts.key, merged=bool(pull.merged), actor=actor))
        case "review_requested":
            person, team = _reviewer(payload, facts)
            payload.say(to.RequestReview(thread=facts.key, person=person, team=team, actor=actor))
        case "review_request_removed":
            person, team = _reviewer(payload, facts)
            payload.say(to.RemoveReviewRequest(thread=facts.key, person=person, team=team, actor=actor))
        case _:
            return _thread(payload, facts)
    return True


def _reviewer(payload: Reading, facts: ThreadFacts) -> tuple[int | None, int | None]:
    """Makes sure of the thread and of the person or team whose review it is about."""
    payload.say(to.EnsureThread(facts=facts))
    if "requested_team" in payload.fields:
        return None, payload.team(payload.read("requested_team", shape.Team))
    return payload.person(payload.read("requested_reviewer", shape.Account)), None


def _thread(payload: Reading, facts: ThreadFacts) -> bool:
    """Says what issues and pull requests have in common."""
    before, actor = facts, payload.actor
    news: to.Command
    match payload.action:
        case "opened":
            payload.say(to.OpenThread(facts=facts, actor=actor))
            return True
        case "edited":
            before = payload.thread_before_edit(facts)
            news = to.EditThread(thread=facts.key, title=facts.title, body=facts.body, actor=actor)
        case "deleted":
            news = to.DeleteThread(thread=facts.key, actor=actor)
        case "closed":
            before = replace(facts, is_closed=False)
            news = to.CloseThread(thread=facts.key, merged=False, actor=actor)
        case "reopened":
            before = replace(facts, is_closed=True)
            news = to.ReopenThread(thread=facts.key, actor=actor)
        case "assigned" | "unassigned" as action:
            change = to.Assign if action == "assigned" else to.Unassign
            news = change(thread=facts.key, person=payload.person(payload.read("assignee", shape.Account)), actor=actor)
        case action if action in HOUSEKEEPING:
            news = to.Housekeeping(thread=facts.key, kind=action, actor=actor)
        case _:
            return False
    payload.say(to.EnsureThread(facts=before))
    payload.say(news)
    return True


def _move(payload: Reading, old: ThreadFacts, new: ThreadFacts) -> bool:
    """Says that a thread moved, as GitHub does twice: where it left, and where it arrived."""
    actor = payload.actor
    payload.say(to.EnsureThread(facts=old))
    payload.say(
        to.MoveThread(thread=old.key, to_key=new.key, to_space=new.space, number=new.number, link=new.link, actor=actor)
    )
    return True


def _issue_comment(payload: Reading) -> bool:
    thread = payload.known_thread(payload.read("issue", shape.Issue))
    return _post(payload, payload.comment("comment", thread), "created")


def _review_comment(payload: Reading) -> bool:
    thread = payload.known_thread(payload.read("pull_request", shape.PullRequest))
    return _post(payload, payload.comment("review_comment", thread), "created")


def _review(payload: Reading) -> bool:
    thread = payload.known_thread(payload.read("pull_request", shape.PullRequest))
    facts = payload.review(thread)
    if payload.action != "dismissed":
        return _post(payload, facts, "submitted")
    actor = payload.actor
    payload.say(to.EnsurePost(facts=facts))
    payload.say(to.DismissReview(thread=thread, post=facts.key, actor=actor))
    return True


def _post(payload: Reading, facts: PostFacts, written: str) -> bool:
    """Says what comments and reviews have in common."""
    actor = payload.actor
    if payload.action == written:
        news = to.SubmitReview if facts.kind == "review" else to.AddPost
        payload.say(news(facts=facts, actor=actor))
    elif payload.action == "edited":
        payload.say(to.EnsurePost(facts=payload.post_before_edit(facts)))
        payload.say(to.EditPost(thread=facts.thread, post=facts.key, body=facts.body, actor=actor))
    elif payload.action == "deleted":
        payload.say(to.EnsurePost(facts=facts))
        payload.say(to.DeletePost(thread=facts.thread, post=facts.key, actor=actor))
    else:
        return False
    return True


def _member(payload: Reading) -> bool:
    return _membership_of(payload, "space", payload.space(), payload.read("member", shape.Account))


def _membership(payload: Reading) -> bool:
    team = payload.team(payload.read("team", shape.Team))
    return _membership_of(payload, "team", team, payload.read("member", shape.Account))


def _organization(payload: Reading) -> bool:
    organisation = payload.organisation()
    if payload.action == "renamed":
        return True
    if payload.action not in {"member_added", "member_removed"}:
        return False
    return _membership_of(payload, "organisation", organisation, payload.read("membership", shape.Membership).user)


def _membership_of(payload: Reading, scope: Scope, of: int, account: shape.Account) -> bool:
    person, actor = payload.person(account), payload.actor
    match payload.action.removeprefix("member_"):
        case "added" | "edited":
            grant = payload.read("changes", shape.Grant) if "changes" in payload.fields else shape.Grant()
            permission = grant.permission.to or grant.role_name.to
            payload.say(to.SetMember(scope=scope, of=of, person=person, permission=permission, actor=actor))
        case "removed":
            payload.say(to.RemoveMember(scope=scope, of=of, person=person, actor=actor))
        case _:
            return False
    return True


def _team(payload: Reading) -> bool:
    found = payload.read("team", shape.Team)
    team, actor = payload.team(found), payload.actor
    match payload.action or "added_to_repository":
        case "created" | "edited":
            return True
        case "deleted":
            payload.say(to.DeleteTeam(key=team, actor=actor))
        case "added_to_repository":
            space = payload.space()
            payload.say(to.GrantTeam(team=team, space=space, permission=found.permission, actor=actor))
        case "removed_from_repository":
            payload.say(to.RevokeTeam(team=team, space=payload.space(), actor=actor))
        case _:
            return False
    return True


def _repository(payload: Reading) -> bool:
    space, actor = payload.space(), payload.actor
    match payload.action:
        case "created" | "renamed" | "transferred":
            return True
        case "privatized":
            payload.say(to.SetVisibility(space=space, visibility="private", actor=actor))
        case "publicized":
            payload.say(to.SetVisibility(space=space, visibility="public", actor=actor))
        case "deleted":
            payload.say(to.DeleteSpace(key=space, actor=actor))
        case _:
            return False
    return True


_EVENTS: Final[dict[str, Callable[[Reading], bool]]] = {
    "issues": _issues,
    "issue_comment": _issue_comment,
    "pull_request": _pull_request,
    "pull_request_review": _review,
    "pull_request_review_comment": _review_comment,
    "member": _member,
    "membership": _membership,
    "organization": _organization,
    "repository": _repository,
    "team": _team,
    "team_add": _team,
}
"""Each reads a payload of its event, and tells whether it knew the action."""

_FIELDS: Final = (
    ("pull_request_review_comment", {"pull_request", "comment"}),
    ("pull_request_review", {"pull_request", "review"}),
    ("pull_request", {"pull_request", "number"}),
    ("issue_comment", {"issue", "comment"}),
    ("issues", {"issue"}),
    ("membership", {"team", "member"}),
    ("member", {"repository", "member"}),
    ("team", {"team", "organization", "action"}),
    ("team_add", {"team", "repository"}),
    ("organization", {"organization", "membership"}),
)
"""The fields that tell an event, where nothing else does; the first that fits."""

_ENVELOPE: Final = frozenset(
    {"action", "changes", "repository", "organization", "enterprise", "sender", "installation"}
)
"""Fields that any event may have. Nothing besides them: something happened to the repository itself."""


def _event_in_name(name: str) -> str | None:
    """Gives the event that the name of a file tells."""
    return next((part for part in name.split(".") if part in _EVENTS), None)


def _event_by_fields(payload: Reading) -> str | None:
    """Gives the event that only its payload can tell."""
    by_fields = next((event for event, fields in _FIELDS if fields <= payload.fields), None)
    is_repository = {"repository", "action"} <= payload.fields <= _ENVELOPE
    return by_fields or ("repository" if is_repository else None)
