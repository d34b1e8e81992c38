"""How the oracle handles events: each by itself, from the content as it is then (O2, O12)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from support.model_facts import DIRECT, Event, Follow, Hit, Post, Row, Step, Text, Thread, strongest
from support.model_taking import TakingBack

STATES = {"thread.closed": "closed", "thread.reopened": "open", "thread.merged": "merged"}
ROLES = {"thread.assigned": "assigned", "thread.review_requested": "review_requested"}
EDITS = frozenset({"thread.edited", "comment.edited"})
WITHDRAWN = frozenset({"thread.unassigned", "thread.review_request_removed"})
SUBSCRIBES = {"opening": "author", "comment": "commented", "review": "reviewed", "review_comment": "reviewed"}
SUBSCRIBING = frozenset({"assigned", "review_requested", "mentioned"})
BULK = frozenset({"author", "subscribed", "watching"})
NO_TEXT = Text()


@dataclass(frozen=True)
class Part:
    key: str
    kind: str
    author: int | None
    text: Text = NO_TEXT


@dataclass(frozen=True)
class Tale:
    """An event as it is told."""

    parts: tuple[Part, ...]
    actor: int | None
    space: int | None
    bulk: bool = True
    edit: bool = False
    named: tuple[tuple[int, str], ...] = ()
    subscribes: str | None = None


@dataclass(frozen=True)
class Names:
    """Whom the texts and rows of a tale name, at which post."""

    direct: list[tuple[int, str, Post]]
    team: list[tuple[int, str, Post]]

    def all(self) -> list[tuple[int, str, Post]]:
        return self.direct + self.team


@dataclass
class Candidate:
    reasons: set[str]
    positions: set[int]

    @property
    def reason(self) -> str:
        return strongest(self.reasons) or ""


class Handling(TakingBack):
    """The notifier, event by event."""

    def handle(self, steps: Sequence[Step]) -> None:
        """Replay one transaction of a relay."""
        for step in sorted(steps, key=lambda each: each.event):
            event = self.events[step.event]
            if step.told_with is None:
                self._apply(step, event)
            elif cursor := self.cursors.get(step.told_with):  # the other speaks for those behind its cursor only
                self._apply(replace(step, upto=cursor), event)
        for step in steps:
            if step.upto is None:
                self.waiting.discard(step.event)
            else:
                self.cursors[step.event] = step.upto

    def follow(self, thread: str) -> None:
        """Replay that a relay saw a thread in another space before the move's own event: another event hides it."""
        if thread in self.threads:
            self.threads[thread].space = self.content[thread].space

    def _apply(self, step: Step, event: Event) -> None:
        thread = self.threads.get(event.thread or "")
        if event.type == "access.changed":
            assert event.space is not None
            self.look_at_space(event.space, filter(step.concerns, self.people))
        elif event.type == "thread.deleted" and thread:
            self.drop(thread, step)
        elif event.type == "comment.deleted" and thread and event.post in thread.posts:
            self.delete(thread, thread.posts[event.post], step)
        elif event.type == "snooze.ended" and thread and event.person:
            self.wake(thread, event.person)
        elif event.thread in self.content and not self.content[event.thread].deleted:
            self._apply_to_living(step, event, event.thread)

    def _apply_to_living(self, step: Step, event: Event, key: str) -> None:
        if event.type == "thread.moved":
            thread = self._thread(key)
            thread.space = self.content[key].space
            for person in filter(step.concerns, self.people):
                self.look_again(thread, person)
        elif event.type in WITHDRAWN:
            self.withdraw(self._thread(key), step)
        elif tale := self._resolve(event, step.event, key):
            self._tell(tale, self._thread(key), step, event)

    def _thread(self, key: str) -> Thread:
        return self.threads.setdefault(key, Thread(key, self.content[key].space))

    # What is told

    def _resolve(self, event: Event, number: int, key: str) -> Tale | None:
        content = self.content[key]
        own = f"event:{number}"
        if event.type in STATES:
            part = Part(own, event.type.removeprefix("thread."), event.actor)
            return Tale((part,), event.actor, content.space) if content.state == STATES[event.type] else None
        if event.type == "thread.changed":
            return Tale((Part(own, "housekeeping", event.actor),), event.actor, content.space)
        if role := ROLES.get(event.type):
            part = Part(own, role, event.actor)
            named = tuple((person, role) for person in event.people if (role, person) in content.roles)
            return Tale((part,), event.actor, content.space, bulk=False, named=named) if named else None
        post = self.posts.get(event.post or "")
        if post is None or post.deleted:
            return None
        edit = event.type in EDITS
        keys = [event.post or ""]
        if not edit and post.kind == "review":
            keys += [key for key, each in self.posts.items() if each.part_of == event.post and not each.deleted]
        return Tale(
            tuple(Part(key, self.posts[key].kind, self.posts[key].author, self.posts[key].text) for key in keys),
            post.author if event.actor is None else event.actor,
            content.space,
            bulk=not edit,
            edit=edit,
            named=tuple((person, role) for role, person in content.roles if role == "addressed"),
            subscribes=None if edit else SUBSCRIBES.get(post.kind),
        )

    def _tell(self, tale: Tale, thread: Thread, step: Step, event: Event) -> None:
        thread.space = tale.space
        main = thread.posts.get(tale.parts[0].key)
        if tale.bulk and main and main.announced and step.after is None:
            return
        written_at = main.at if main else event.at or self.now
        posts = [self._record(tale, thread, part, written_at) for part in tale.parts]
        names = self._names(tale, posts, written_at)
        if tale.edit and main:
            direct, members = ({person for person, _, _ in group} for group in (names.direct, names.team))
            self.remove_mentions(thread, main.key, direct, members, step)
        candidates = {
            person: candidate
            for person, candidate in self._candidates(tale, thread, posts[0], names).items()
            if step.concerns(person)
        }
        news = {person for person in candidates if self._is_news(tale, thread, posts[0], person)}
        self._subscribe_all(tale, thread, posts[0], candidates, step)
        told = {person for person in news if self._hears(tale, thread, step, person, candidates[person])}
        for person in told:
            assert (step.event, person) not in self.told, "told twice"
            self.told.add((step.event, person))
            self._bump(thread, person, candidates[person], posts[-1])
        self._write_hits(tale, thread, names, told, step)
        if tale.edit and main:
            for person in {whom for key, whom, _ in thread.hits if key == main.key and step.concerns(whom)}:
                self.settle(thread, person)

    def _record(self, tale: Tale, thread: Thread, part: Part, written_at: datetime) -> Post:
        if part.key not in thread.posts:
            position = len(thread.posts) + 1
            thread.posts[part.key] = Post(part.key, position, part.kind, part.author, written_at)
        post = thread.posts[part.key]
        post.announced |= not tale.edit
        return post

    def _names(self, tale: Tale, posts: Sequence[Post], written_at: datetime) -> Names:
        names = Names([(person, reason, posts[0]) for person, reason in tale.named], [])
        for part, post in zip(tale.parts, posts, strict=True):
            bearers = [self.bearer(handle, written_at) for handle in part.text.handles]
            names.direct.extend((person, "mentioned", post) for person in bearers if person)
            if part.text.team and tale.actor in self.organisation and tale.space is not None:
                names.team.extend((person, "team_mentioned", post) for person in self.team)
        return names

    def _candidates(self, tale: Tale, thread: Thread, main: Post, names: Names) -> dict[int, Candidate]:
        sources = names.all()
        if tale.bulk:
            for person, follow in thread.follows.items():
                if follow.subscribed and main.position > follow.since:
                    sources.append((person, "author" if follow.why == "author" else "subscribed", main))
            for (space, person), level in self.watches.items():
                if space == tale.space and level == "all":
                    sources.append((person, "watching", main))
        found: dict[int, Candidate] = {}
        for person, reason, post in sources:
            candidate = found.setdefault(person, Candidate(set(), set()))
            candidate.reasons.add(reason)
            candidate.positions.add(post.position)
        return found

    def _is_news(self, tale: Tale, thread: Thread, main: Post, person: int) -> bool:
        hits = [hit for (key, whom, _), hit in thread.hits.items() if key == main.key and whom == person]
        return not any(hit.told or not tale.bulk for hit in hits)

    def _may_hear(self, tale: Tale, person: int, reason: str) -> bool:
        """W6 and W8, as far as they also decide who is subscribed."""
        readable = reason in DIRECT if tale.space is None else self.reads(person, tale.space)
        is_own = person == tale.actor and not self.people[person].own
        return self.people[person].active and readable and not is_own and not self.apart(person, tale.actor)

    def _hears(self, tale: Tale, thread: Thread, step: Step, person: int, candidate: Candidate) -> bool:
        follow = thread.follows.get(person, Follow())
        ignores = tale.space is not None and self.watches.get((tale.space, person)) == "ignore"
        quiet = (person, tale.actor) in self.mutes or follow.unsubscribed
        housekeeping = tale.parts[0].kind == "housekeeping" and not self.people[person].housekeeping
        return (
            self._may_hear(tale, person, candidate.reason)
            and not ignores
            and (candidate.reason in DIRECT or not quiet)
            and not housekeeping
            and (step.event, person) not in self.read_ahead
        )

    def _subscribe_all(
        self, tale: Tale, thread: Thread, main: Post, candidates: dict[int, Candidate], step: Step
    ) -> None:
        if tale.space is None:
            return
        reads = tale.actor and self.people[tale.actor].active and self.reads(tale.actor, tale.space)
        if tale.actor and tale.subscribes and reads and step.concerns(tale.actor):
            self._subscribe(thread, tale.actor, tale.subscribes, main)
        for person, candidate in candidates.items():
            if candidate.reason in SUBSCRIBING and self._may_hear(tale, person, candidate.reason):
                self._subscribe(thread, person, candidate.reason, main)

    def _subscribe(self, thread: Thread, person: int, why: str, main: Post) -> None:
        follow = thread.follows.setdefault(person, Follow())
        if not follow.subscribed and not follow.unsubscribed:
            follow.subscribed, follow.why, follow.since = True, why, main.position

    def _bump(self, thread: Thread, person: int, candidate: Candidate, end: Post) -> None:
        reason, bulk = candidate.reason, strongest(candidate.reasons & BULK)
        first = min(candidate.positions)
        last = max(candidate.positions | ({end.position} if bulk else set()))
        row = thread.rows.get(person)
        if row is not None and (row.snoozed or self.is_unread(person, row)):
            reason = strongest([reason, row.reason]) or ""
            bulk = strongest([bulk, row.bulk])
            first, last = min(first, row.first), max(last, row.last)
        saved = row is not None and row.saved
        thread.rows[person] = Row(self.next_version(person), reason, bulk, first, last, saved=saved)
        self.bumped.add((thread.key, person))
        self.touch(person)

    def _write_hits(self, tale: Tale, thread: Thread, names: Names, told: set[int], step: Step) -> None:
        direct = {person for person, _, _ in names.direct}
        for person, reason, post in names.direct + [each for each in names.team if each[0] not in direct]:
            if step.concerns(person):
                readable = tale.space is None or self.reads(person, tale.space)
                hidden = not readable or self.apart(person, tale.actor)
                hit = thread.hits.setdefault((post.key, person, reason), Hit(tale.actor, told=False, hidden=hidden))
                hit.removed = False
                hit.told |= person in told
