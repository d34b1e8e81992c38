"""What an account, a thread and a post are on a forge: the words that `commands` are made of.

Keys: accounts, organisations, teams and spaces have the forge's numbers. A thread is `<space>#<number>`,
since issues and pull requests of a space share their numbers, but a pull request has one id as such and
another as an issue. Posts are `comment:<id>`, `review:<id>` and `review_comment:<id>`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

AccountKind = Literal["person", "bot", "organisation"]
Visibility = Literal["public", "private"]
ThreadKind = Literal["issue", "pull_request"]
PostKind = Literal["comment", "review", "review_comment"]
ReviewState = Literal["approved", "changes_requested", "commented", "dismissed"]
Scope = Literal["space", "organisation", "team"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadFacts:
    """What an issue or a pull request is."""

    key: str
    space: int
    kind: ThreadKind
    number: int
    title: str
    author: int | None
    link: str
    body: str
    created_at: datetime
    is_closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PostFacts:
    """What a comment, a review or a review comment is; `review` names the review that it is part of (W13)."""

    key: str
    kind: PostKind
    thread: str
    author: int | None
    body: str
    link: str
    created_at: datetime
    review: str | None = None
    state: ReviewState | None = None
