"""One payload of GitHub while it is read: its fields, and what it says so far.

Kept here: a field is checked when it is read (`github_shape`), and only then; whoever and whatever a value
names is made sure of before that value.
"""

from collections.abc import Iterator
from dataclasses import astuple, replace
from datetime import datetime
from typing import ClassVar, Final, TypeVar

import msgspec

from clarion.ingest import commands as to
from clarion.ingest.facts import AccountKind, PostFacts, PostKind, ThreadFacts
from clarion.ingest.github_shape import (
    Account,
    Comment,
    Edit,
    Issue,
    Organisation,
    PullRequest,
    Repository,
    Review,
    Team,
)
from clarion.model.errors import ClarionError
from clarion.model.text import MAX_TEXT_BYTES, is_handle

MAX_PAYLOAD_BYTES: Final = 25 * 1024 * 1024
"""GitHub sends no larger ones."""

_KINDS: Final[dict[str, AccountKind]] = {"User": "person", "Organization": "organisation"}
_YEARS: Final = range(1970, 9999)

T = TypeVar("T")


class ForeignPayload(ClarionError):
    """Bytes that are no payload of GitHub's, or a broken one; the message says what is wrong."""

    code: ClassVar[str] = "foreign_payload"


class Reading:
    """A payload's fields, typed as they are read, and the values said so far, each once and in order."""

    def __init__(self, content: bytes) -> None:
        if len(content) > MAX_PAYLOAD_BYTES:
            raise ForeignPayload(f"longer than {MAX_PAYLOAD_BYTES} bytes")
        self._fields = _decoded(content, dict[str, msgspec.Raw])
        self._said: dict[to.Command, None] = {}
        if "sender" not in self._fields:
            raise ForeignPayload("not of GitHub: no `sender`")

    @property
    def fields(self) -> frozenset[str]:
        """The names of the payload's fields."""
        return frozenset(self._fields)

    @property
    def action(self) -> str:
        """What was done, or nothing where the event has one meaning only."""
        return self.read("action", str) if "action" in self._fields else ""

    @property
    def actor(self) -> int:
        """The key of whoever did it."""
        return self.person(self.read("sender", Account))

    def read(self, field: str, kind: type[T]) -> T:
        """Gives one field, of the kind asked for."""
        if field not in self._fields:
            raise ForeignPayload(f"no `{field}`")
        return _decoded(self._fields[field], kind, field)

    def say(self, command: to.Command) -> None:
        """Adds a value, unless it was said already."""
        self._said.setdefault(command)

    def said(self) -> tuple[to.Command, ...]:
        """Gives all values, whose texts and times can be kept."""
        for command in self._said:
            for value in _leaves(astuple(command)):
                if isinstance(value, datetime) and value.year not in _YEARS:
                    raise ForeignPayload(f"a time in the year {value.year}")
                if isinstance(value, str):
                    _check_text(value)
        return tuple(self._said)

    def person(self, account: Account) -> int:
        """Makes sure of an account and gives its key.

        A bot's `name[bot]` becomes `name.bot`, which no other account of GitHub can have.
        """
        is_app = account.login.endswith("[bot]")
        handle = account.login.removesuffix("[bot]") + ".bot" if is_app else account.login
        if not is_handle(handle):
            raise ForeignPayload(f"login {account.login!r} is no handle")
        kind = "bot" if is_app else _KINDS.get(account.type, "bot")
        self.say(to.EnsurePerson(key=account.id, handle=handle, name=account.name or None, kind=kind))
        return account.id

    def person_if_any(self, account: Account | None) -> int | None:
        """Makes sure of an account; whoever left GitHub has none."""
        return None if account is None else self.person(account)

    def organisation(self) -> int:
        """Makes sure of the organisation that the payload comes from, and gives its key."""
        found = self.read("organization", Organisation)
        if not is_handle(found.login):
            raise ForeignPayload(f"login {found.login!r} is no handle")
        self.say(to.EnsureOrganisation(key=found.id, handle=found.login))
        return found.id

    def space(self, repository: Repository | None = None) -> int:
        """Makes sure of a repository, of the payload's own if none is given, and gives its key.

        It belongs to its owner, whatever organisation the payload comes from. What only some may read is
        private, and of `private` and `visibility` the stricter counts.
        """
        found = repository or self.read("repository", Repository)
        owner = self.person(found.owner)
        is_owned = found.owner.type == "Organization"
        if is_owned:
            self.say(to.EnsureOrganisation(key=owner, handle=found.owner.login))
        self.say(
            to.EnsureSpace(
                key=found.id,
                name=found.full_name,
                visibility="private" if found.private or found.visibility not in {None, "public"} else "public",
                organisation=owner if is_owned else None,
                owner=None if is_owned else owner,
            )
        )
        return found.id

    def team(self, team: Team) -> int:
        """Makes sure of a team of the payload's organisation, and gives its key."""
        if not is_handle(team.slug):
            raise ForeignPayload(f"slug {team.slug!r} is no name of a team")
        organisation = self.organisation()
        self.say(to.EnsureTeam(key=team.id, organisation=organisation, slug=team.slug, name=team.name))
        return team.id

    def thread(self, item: Issue | PullRequest, space: int) -> ThreadFacts:
        """Gives what a thread is now, its author made sure of."""
        is_pull = isinstance(item, PullRequest) or item.pull_request is not None
        return ThreadFacts(
            key=f"{space}#{item.number}",
            space=space,
            kind="pull_request" if is_pull else "issue",
            number=item.number,
            title=item.title,
            author=self.person_if_any(item.user),
            link=item.html_url,
            body=item.body or "",
            created_at=item.created_at,
            is_closed=item.state == "closed",
        )

    def known_thread(self, item: Issue | PullRequest) -> str:
        """Makes sure of a thread in the payload's repository, and gives its key."""
        facts = self.thread(item, self.space())
        self.say(to.EnsureThread(facts=facts))
        return facts.key

    def comment(self, kind: PostKind, thread: str) -> PostFacts:
        """Gives what the payload's comment is now, its author made sure of."""
        found = self.read("comment", Comment)
        review = found.pull_request_review_id
        return PostFacts(
            key=f"{kind}:{found.id}",
            kind=kind,
            thread=thread,
            author=self.person_if_any(found.user),
            body=found.body,
            link=found.html_url,
            created_at=found.created_at,
            review=None if review is None else f"review:{review}",
        )

    def review(self, thread: str) -> PostFacts:
        """Gives what the payload's review is now, its author made sure of."""
        found = self.read("review", Review)
        return PostFacts(
            key=f"review:{found.id}",
            kind="review",
            thread=thread,
            author=self.person_if_any(found.user),
            body=found.body or "",
            link=found.html_url,
            created_at=found.submitted_at,
            state=found.state,
        )

    def thread_before_edit(self, facts: ThreadFacts) -> ThreadFacts:
        """Gives what a thread was before the edit that the payload tells of."""
        edit = self._edit()
        return replace(facts, title=edit.title.before or facts.title, body=edit.body_before(facts.body))

    def post_before_edit(self, facts: PostFacts) -> PostFacts:
        """Gives what a post was before the edit that the payload tells of."""
        return replace(facts, body=self._edit().body_before(facts.body))

    def _edit(self) -> Edit:
        return self.read("changes", Edit) if "changes" in self._fields else Edit()


def _decoded(content: bytes | msgspec.Raw, kind: type[T], field: str = "") -> T:
    """Decodes JSON, whatever it is."""
    where = f"`{field}`: " if field else "not JSON of an object: "
    try:
        return msgspec.json.decode(content, type=kind)
    except RecursionError:
        raise ForeignPayload(f"{where}nested too deeply") from None
    except ValueError as error:
        raise ForeignPayload(f"{where}{error}") from None


def _leaves(value: object) -> Iterator[object]:
    """Gives the plain values in nested tuples."""
    if isinstance(value, tuple):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value


def _check_text(text: str) -> None:
    """Refuses a text that PostgreSQL could not keep, or that is over the limit (K2)."""
    if "\0" in text:
        raise ForeignPayload(f"a NUL in the text {text[:40]!r}")
    if len(text) * 4 > MAX_TEXT_BYTES and len(text.encode()) > MAX_TEXT_BYTES:
        raise ForeignPayload(f"a text of more than {MAX_TEXT_BYTES} bytes: {text[:40]!r}…")
