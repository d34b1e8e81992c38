"""What happened on a forge, as plain values that say what must hold afterwards.

Each value needs nothing but itself, and applying it twice is applying it once: everything is named by the
forge's own keys. Applied in the order given, no value speaks of a person, space, team or thread that none
before it has made sure of.

Two kinds are kept apart. *Ensure…* values catch up on what may not be known yet: they tell nobody, and
leave alone what is there already, unless they say otherwise. All others are `News`: each names the `actor`
who did it, and whoever should hear of it hears.

Keys are those of `facts`.
"""

from dataclasses import dataclass

from clarion.ingest.facts import AccountKind, PostFacts, Scope, ThreadFacts, Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What somebody did just now: an event, of which others may hear."""

    actor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsurePerson:
    """An account that acts or is addressed; a new handle or name replaces the old one (W17).

    Handles are unique at any one time: an account that held this one before has given it up. Bots and
    organisations act, but read nothing.
    """

    key: int
    handle: str
    name: str | None
    kind: AccountKind


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsureOrganisation:
    """An organisation; a new handle replaces the old one."""

    key: int
    handle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsureSpace:
    """A repository, of an organisation or of a person, who may then do everything in it.

    A known one takes the name and the owner, and turns private where this says so (W15). It never turns
    public by this: an old payload, played again, must not open what was closed since.
    """

    key: int
    name: str
    visibility: Visibility
    organisation: int | None
    owner: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsureTeam:
    """A team of an organisation; a new slug or name replaces the old one."""

    key: int
    organisation: int
    slug: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsureThread:
    """A thread as it was before the news."""

    facts: ThreadFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsurePost:
    """A post as it was before the news."""

    facts: PostFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenThread(News):
    """A thread was opened; a key that is known already is no news."""

    facts: ThreadFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPost(News):
    """A comment or a review comment was written; a key that is known already is no news."""

    facts: PostFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitReview(News):
    """A review was handed in, with its state; its comments come as posts of their own (W13)."""

    facts: PostFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadNews(News):
    """What was done to a thread, or in it."""

    thread: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditThread(ThreadNews):
    """A thread has this title and opening text now."""

    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteThread(ThreadNews):
    """A thread is gone with its posts, and its key stays gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveThread(ThreadNews):
    """A thread has another key, and its old one stays gone; where the new one is known, so is the thread."""

    to_key: str
    to_space: int
    number: int
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseThread(ThreadNews):
    """A thread is closed; a pull request may be merged by it."""

    merged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenThread(ThreadNews):
    """A thread is open again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Housekeeping(ThreadNews):
    """Something small was done to a thread, such as `labeled` or `locked`: recorded, told to nobody (W14)."""

    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPost(ThreadNews):
    """A post has this text now."""

    post: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePost(ThreadNews):
    """A post is gone, and its key stays gone."""

    post: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DismissReview(ThreadNews):
    """A review counts no more."""

    post: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assign(ThreadNews):
    """A person is assigned to a thread."""

    person: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unassign(ThreadNews):
    """A person is not assigned to a thread any more."""

    person: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestReview(ThreadNews):
    """A person or a team, exactly one of them, is asked to review."""

    person: int | None
    team: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveReviewRequest(ThreadNews):
    """A person or a team, exactly one of them, is not asked to review any more."""

    person: int | None
    team: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMember(News):
    """A person is a member of a space, organisation or team; a permission told replaces the one before."""

    scope: Scope
    of: int
    person: int
    permission: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMember(News):
    """A person is no member of a space, organisation or team (W15)."""

    scope: Scope
    of: int
    person: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantTeam(News):
    """A team's members may read a space."""

    team: int
    space: int
    permission: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeTeam(News):
    """A team gives its members no access to a space any more (W15)."""

    team: int
    space: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTeam(News):
    """A team is gone, and the access that it gave (W15)."""

    key: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetVisibility(News):
    """A space is public or private now (W15)."""

    space: int
    visibility: Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSpace(News):
    """A space is gone with its threads."""

    key: int


Command = (
    EnsurePerson | EnsureOrganisation | EnsureSpace | EnsureTeam | EnsureThread | EnsurePost
    | OpenThread | EditThread | DeleteThread | MoveThread | CloseThread | ReopenThread | Housekeeping
    | AddPost | EditPost | DeletePost | SubmitReview | DismissReview
    | Assign | Unassign | RequestReview | RemoveReviewRequest
    | SetMember | RemoveMember | GrantTeam | RevokeTeam | DeleteTeam | SetVisibility | DeleteSpace
)  # fmt: skip
