"""The parts of GitHub's webhook payloads that Clarion reads, and nothing else of them.

Kept here: what is read is of the right type and within its bounds; what is not read may be anything.
Field names are GitHub's.
"""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

Id = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Number = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Name = Annotated[str, Meta(min_length=1, max_length=255)]
Title = Annotated[str, Meta(min_length=1, max_length=1024)]
Link = Annotated[str, Meta(pattern=r"\Ahttps?://[^\s<>\"]+\Z", max_length=2048)]
Time = Annotated[datetime, Meta(tz=True)]


class Account(Struct, frozen=True):
    """A user, bot or organisation."""

    id: Id
    login: Name
    type: str = "User"
    name: Annotated[str, Meta(max_length=255)] | None = None


class Organisation(Struct, frozen=True):
    """The organisation that a payload comes from."""

    id: Id
    login: Name


class Repository(Struct, frozen=True):
    """A repository; `visibility` is missing in older payloads, and `private` decides."""

    id: Id
    full_name: Annotated[str, Meta(pattern=r"\A[^/\s]+/[^/\s]+\Z", max_length=255)]
    private: bool
    owner: Account
    visibility: Literal["public", "private", "internal"] | None = None


class Issue(Struct, frozen=True):
    """An issue or, where `pull_request` is there, a pull request seen as one."""

    number: Number
    title: Title
    html_url: Link
    created_at: Time
    state: str = "open"
    user: Account | None = None
    body: str | None = None
    pull_request: dict[str, object] | None = None


class PullRequest(Struct, frozen=True):
    """A pull request; some events tell of it without `merged`."""

    number: Number
    title: Title
    html_url: Link
    created_at: Time
    state: str = "open"
    user: Account | None = None
    body: str | None = None
    merged: bool | None = None


class Comment(Struct, frozen=True):
    """A comment, or a comment on a line of a pull request."""

    id: Id
    html_url: Link
    created_at: Time
    body: str
    user: Account | None = None
    pull_request_review_id: Id | None = None


class Review(Struct, frozen=True):
    """A review of a pull request."""

    id: Id
    html_url: Link
    state: Literal["approved", "changes_requested", "commented", "dismissed"]
    submitted_at: Time
    user: Account | None = None
    body: str | None = None


class Team(Struct, frozen=True):
    """A team of an organisation."""

    id: Id
    slug: Name
    name: Name
    permission: str | None = None


class Membership(Struct, frozen=True):
    """Who joined or left an organisation."""

    user: Account


class Was(Struct, frozen=True, rename={"before": "from"}):
    """What a value was before, and became, as far as it is told."""

    before: str | None = None
    to: str | None = None


class Edit(Struct, frozen=True):
    """What an edit changed."""

    title: Was = Was()
    body: Was = Was()

    def body_before(self, body: str) -> str:
        """Gives the text before the edit, which may have been empty, or left alone."""
        return body if self.body.before is None else self.body.before


class Grant(Struct, frozen=True):
    """Which permission a member got."""

    permission: Was = Was()
    role_name: Was = Was()


class Transfer(Struct, frozen=True):
    """Where an issue went to."""

    new_issue: Issue
    new_repository: Repository


class Arrival(Struct, frozen=True):
    """Where an issue came from."""

    old_issue: Issue | None = None
    old_repository: Repository | None = None
