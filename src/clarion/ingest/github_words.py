"""What a payload said, in a few words: for the line that tells that it was applied."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from clarion.ingest import commands as to


def say(values: Sequence[to.Command]) -> str:
    """Return the news in words; of a payload without any, whom or what it made known."""
    handles = {value.key: value.handle for value in values if isinstance(value, to.EnsurePerson)}
    said = [_SAY[type(value)](value, handles) for value in values if isinstance(value, to.News)]
    return ", ".join(said) or f"{_KNOWN.get(type(values[-1]), 'it')} known as it is now"


def _at(value: Any) -> str:
    return str(getattr(value, "thread", "") or value.facts.thread)


def _whom(value: Any, handles: Mapping[int, str]) -> str:
    return f"@{handles[value.person]}" if value.person is not None else f"team {value.team}"


_KNOWN: Final[Mapping[type[Any], str]] = {
    to.EnsurePerson: "a person",
    to.EnsureOrganisation: "an organisation",
    to.EnsureSpace: "a space",
    to.EnsureTeam: "a team",
}

_SAY: Final[Mapping[type[Any], Callable[[Any, Mapping[int, str]], str]]] = {
    to.OpenThread: lambda v, _: f"{v.facts.kind.replace('_', ' ')} {v.facts.key} opened",
    to.EditThread: lambda v, _: f"{v.thread} edited",
    to.DeleteThread: lambda v, _: f"{v.thread} deleted",
    to.MoveThread: lambda v, _: f"{v.thread} moved to {v.to_key}",
    to.CloseThread: lambda v, _: f"{v.thread} {'merged' if v.merged else 'closed'}",
    to.ReopenThread: lambda v, _: f"{v.thread} reopened",
    to.Housekeeping: lambda v, _: f"{v.thread} {v.kind.replace('_', ' ')}",
    to.AddPost: lambda v, _: f"{v.facts.key} added to {_at(v)}",
    to.EditPost: lambda v, _: f"{v.post} edited in {_at(v)}",
    to.DeletePost: lambda v, _: f"{v.post} deleted from {_at(v)}",
    to.SubmitReview: lambda v, _: f"{v.facts.key} ({(v.facts.state or '').replace('_', ' ')}) handed in to {_at(v)}",
    to.DismissReview: lambda v, _: f"{v.post} dismissed in {_at(v)}",
    to.Assign: lambda v, h: f"{_whom(v, h)} assigned to {v.thread}",
    to.Unassign: lambda v, h: f"{_whom(v, h)} unassigned from {v.thread}",
    to.RequestReview: lambda v, h: f"{_whom(v, h)} asked to review {v.thread}",
    to.RemoveReviewRequest: lambda v, h: f"{_whom(v, h)} asked no more to review {v.thread}",
    to.SetMember: lambda v, h: f"@{h[v.person]} a member of {v.scope} {v.of}",
    to.RemoveMember: lambda v, h: f"@{h[v.person]} no member of {v.scope} {v.of} any more",
    to.GrantTeam: lambda v, _: f"team {v.team} let into space {v.space}",
    to.RevokeTeam: lambda v, _: f"team {v.team} let no more into space {v.space}",
    to.DeleteTeam: lambda v, _: f"team {v.key} deleted",
    to.SetVisibility: lambda v, _: f"space {v.space} made {v.visibility}",
    to.DeleteSpace: lambda v, _: f"space {v.key} deleted",
}
