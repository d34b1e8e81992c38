"""How the oracle handles events: each by itself, from the content as it is then (O2, O12)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from support.model import DIRECT, Event, Follow, Hit, Model, Post, Row, Step, Text, Thread, strongest

POSTS = frozenset({"thread.opened", "comment.created", "review.submitted", "message.addressed"})
STATES = {"thread.closed": "closed", "thread.reopened": "open", "thread.merged": "merged"}
ROLES = {"thread.assigned": "assigned", "thread.review_requested": "review_requested"}
EDITS = frozenset({"thread.edited", "comment.edited"})
WITHDRAWN = frozenset({"thread.unassigned", "thread.review_request_removed"})
SUBSCRIBES = {"opening": "author", "comment": "commented", "review": "reviewed", "review_comment": "reviewed"}
SUBSCRIBING = frozenset({"assigned", "review_requested", "mentioned"})


@dataclass(frozen=True)
class Part:
    key: str
    kind: str
    author: int | None
    text: Text = Text()


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


@dataclass
class Candidate:
    reasons: set[str]
    positions: set[int]


class Handling(Model):
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

    def _apply(self, step: Step, event: Event) -> None:
        thread = self.threads.get(event.thread or "")
        alive = event.thread in self.content and not self.content[event.thread].deleted
        if event.type == "access.changed":
            assert event.space is not None
            self.look_at_space(event.space, filter(step.concerns, self.people))
        elif event.type == "snooze.ended":
            if thread and event.person:
                self._wake(thread, event.person)
        elif event.type == "thread.deleted":
            if thread:
                self._drop(thread, step)
        elif event.type == "comment.deleted":
            if thread and event.post in thread.posts:
                self._delete(thread, thread.posts[event.post], step)
        elif not alive:
            return
        elif event.type == "thread.moved" and thread:
            thread.space = self.content[thread.key].space
            for person in filter(step.concerns, self.people):
                self.look_again(thread, person)
        elif event.type in WITHDRAWN:
            self._withdraw(self._thread(event), step)
        elif tale := self._resolve(event, step.event):
            self._tell(tale, self._thread(event), step, event)

    def follow(self, thread: str) -> None:
        """Replay that a relay saw a thread in another space before the move's own event: another event hides it."""
        if thread in self.threads:
            self.threads[thread].space = self.content[thread].space

    def _thread(self, event: Event) -> Thread:
        assert event.thread
        return self.threads.setdefault(event.thread, Thread(event.thread, self.content[event.thread].space))

    # What is told

    def _resolve(self, event: Event, number: int) -> Tale | None:
        assert event.thread
        content = self.content[event.thread]
        own = f"event:{number}"
        if event.type in STATES:
            part = Part(own, event.type.removeprefix("thread."), event.actor)
            return Tale((part,), event.actor, content.space) if content.state == STATES[event.type] else None
        if event.type == "thread.changed":
            return Tale((Part(own, "housekeeping", event.actor),), event.actor, content.space)
        if role := ROLES.get(event.type):
            named = tuple((person, role) for person in event.people if (role, person) in content.roles)
            return Tale((Part(own, role, event.actor),), event.actor, content.space, bulk=False, named=named) if named else None
        post = self.posts.get(event.post or "")
        if post is None or post.deleted:
            return None
        edit = event.type in EDITS
        keys = [event.post or ""]
        if not edit and post.kind == "review":
            keys += [key for key, each in self.posts.items() if each.part_of == event.post and not each.deleted]
        parts = tuple(Part(key, self.posts[key].kind, self.posts[key].author, self.posts[key].text) for key in keys)
        return Tale(
            parts,
            post.author if event.actor is None else event.actor,
            content.space,
            bulk=not edit,
            edit=edit,
            named=tuple((person, role) for role, person in sorted(content.roles) if role == "addressed"),
            subscribes=None if edit else SUBSCRIBES.get(post.kind),
        )

    def _tell(self, tale: Tale, thread: Thread, step: Step, event: Event) -> None:
        thread.space = tale.space
        main = thread.posts.get(tale.parts[0].key)
        if tale.bulk and main and main.announced and step.after is None:
            return
        known = main is not None
        written_at = main.at if main else event.at or self.now
        posts = [self._record(tale, thread, part, written_at) for part in tale.parts]
        named, teams = self._named(tale, posts, written_at)
        touched = self._remove_mentions(thread, posts, named, teams, step) if tale.edit and known else set()
        candidates = self._candidates(tale, thread, posts[0], named, teams)
        news = {person for person in candidates if self._is_news(tale, thread, posts[0], person)}
        if tale.actor and tale.subscribes and step.concerns(tale.actor) and tale.space is not None:
            if self.people[tale.actor].active and self.reads(tale.actor, tale.space):
                self._subscribe(thread, tale.actor, tale.subscribes, posts[0].position)
        for person, candidate in sorted(candidates.items()):
            if step.concerns(person):
                self._follow(tale, thread, person, candidate)
        told = set()
        for person, candidate in sorted(candidates.items()):
            if step.concerns(person) and person in news and self._hears(tale, thread, step, person, candidate):
                told.add(person)
                assert (step.event, person) not in self.told
                self.told.add((step.event, person))
                self._bump(thread, person, candidate)
        self._write_hits(tale, thread, named, teams, told, step)
        for person in touched:
            self.settle(thread, person)

    def _record(self, tale: Tale, thread: Thread, part: Part, written_at: datetime) -> Post:
        post = thread.posts.get(part.key)
        if post is None:
            post = Post(part.key, len(thread.posts) + 1, part.kind, part.author, written_at)
            thread.posts[part.key] = post
        post.announced |= not tale.edit
        return post

    def _named(
        self, tale: Tale, posts: list[Post], written_at: datetime
    ) -> tuple[list[tuple[int, str, Post]], list[tuple[int, Post]]]:
        named = [(person, reason, posts[0]) for person, reason in tale.named]
        teams: list[tuple[int, Post]] = []
        for part, post in zip(tale.parts, posts, strict=True):
            for handle in part.text.handles:
                if person := self.bearer(handle, written_at):
                    named.append((person, "mentioned", post))
            if part.text.team and tale.actor in self.organisation and tale.space is not None:
                teams += [(person, post) for person in self.team]
        return named, teams

    def _candidates(
        self,
        tale: Tale,
        thread: Thread,
        main: Post,
        named: list[tuple[int, str, Post]],
        teams: list[tuple[int, Post]],
    ) -> dict[int, Candidate]:
        found: dict[int, Candidate] = {}
        sources = list(named) + [(person, "team_mentioned", post) for person, post in teams]
        if tale.bulk:
            for person, follow in thread.follows.items():
                if follow.subscribed and main.position > follow.since:
                    sources.append((person, "author" if follow.why == "author" else "subscribed", main))
            sources += [
                (person, "watching", main)
                for (space, person), level in self.watches.items()
                if space == tale.space and level == "all"
            ]
        for person, reason, post in sources:
            candidate = found.setdefault(person, Candidate(set(), set()))
            candidate.reasons.add(reason)
            candidate.positions.add(post.position)
        return found

    def _is_news(self, tale: Tale, thread: Thread, main: Post, person: int) -> bool:
        return not any(
            key == main.key and whom == person and (hit.told or not tale.bulk)
            for (key, whom, _), hit in thread.hits.items()
        )

    def _may_hear(self, tale: Tale, person: int, reason: str) -> bool:
        """W6 and W8, as far as they also decide who is subscribed."""
        readable = reason in DIRECT if tale.space is None else self.reads(person, tale.space)
        is_own = person == tale.actor and not self.people[person].own
        return self.people[person].active and readable and not is_own and not self.apart(person, tale.actor)

    def _hears(self, tale: Tale, thread: Thread, step: Step, person: int, candidate: Candidate) -> bool:
        reason = strongest(candidate.reasons) or ""
        follow = thread.follows.get(person, Follow())
        ignores = tale.space is not None and self.watches.get((tale.space, person)) == "ignore"
        quiet = (person, tale.actor) in self.mutes or follow.unsubscribed
        housekeeping = tale.parts[0].kind == "housekeeping" and not self.people[person].housekeeping
        return (
            self._may_hear(tale, person, reason)
            and not ignores
            and (reason in DIRECT or not quiet)
            and not housekeeping
            and (step.event, person) not in self.read_ahead
        )

    def _follow(self, tale: Tale, thread: Thread, person: int, candidate: Candidate) -> None:
        reason = strongest(candidate.reasons) or ""
        if reason in SUBSCRIBING and tale.space is not None and self._may_hear(tale, person, reason):
            self._subscribe(thread, person, reason, min(candidate.positions))

    def _subscribe(self, thread: Thread, person: int, why: str, since: int) -> None:
        follow = thread.follows.setdefault(person, Follow())
        if not follow.subscribed and not follow.unsubscribed:
            follow.subscribed, follow.why, follow.since = True, why, since

    def _bump(self, thread: Thread, person: int, candidate: Candidate) -> None:
        reason = strongest(candidate.reasons) or ""
        bulk = strongest(candidate.reasons & {"author", "subscribed", "watching"})
        first = min(candidate.positions)
        last = len(thread.posts) if bulk else max(candidate.positions)
        row = thread.rows.get(person)
        saved = row is not None and row.saved
        if row is not None and self.is_unread(person, row):
            reason = strongest([reason, row.reason]) or ""
            bulk = strongest([bulk, row.bulk])
            first, last = min(first, row.first), max(last, row.last)
        thread.rows[person] = Row(self.next_version(person), reason, bulk, first, last, saved=saved)
        self.bumped.add((thread.key, person))
        self.touch(person)

    def _write_hits(
        self,
        tale: Tale,
        thread: Thread,
        named: list[tuple[int, str, Post]],
        teams: list[tuple[int, Post]],
        told: set[int],
        step: Step,
    ) -> None:
        direct = {person for person, _, _ in named}
        hits = named + [(person, "team_mentioned", post) for person, post in teams if person not in direct]
        for person, reason, post in hits:
            if not step.concerns(person):
                continue
            readable = tale.space is None or self.reads(person, tale.space)
            hidden = not readable or self.apart(person, tale.actor)
            hit = thread.hits.setdefault((post.key, person, reason), Hit(tale.actor, told=False, hidden=hidden))
            hit.removed = False
            hit.told |= person in told

    # What is taken back

    def _remove_mentions(
        self,
        thread: Thread,
        posts: list[Post],
        named: list[tuple[int, str, Post]],
        teams: list[tuple[int, Post]],
        step: Step,
    ) -> set[int]:
        keys = {post.key for post in posts}
        direct, members = {person for person, _, _ in named}, {person for person, _ in teams}
        touched = set()
        for (key, person, kind), hit in thread.hits.items():
            still = person in direct or (kind == "team_mentioned" and person in members)
            if key in keys and kind in {"mentioned", "team_mentioned"} and not still and step.concerns(person):
                if not hit.removed:
                    touched.add(person)
                hit.removed = True
        return touched

    def _withdraw(self, thread: Thread, step: Step) -> None:
        roles = self.content[thread.key].roles
        touched = set()
        for (_, person, kind), hit in thread.hits.items():
            if kind in ROLES.values() and not hit.removed and (kind, person) not in roles and step.concerns(person):
                hit.removed = True
                touched.add(person)
        for person in sorted(touched):
            self.settle(thread, person)

    def _delete(self, thread: Thread, post: Post, step: Step) -> None:
        if post.gone and step.after is None:
            return
        post.gone = True
        for person in filter(step.concerns, self.people):
            hits = [hit for (key, whom, _), hit in thread.hits.items() if key == post.key and whom == person]
            for hit in hits:
                hit.removed = True
            row = thread.rows.get(person)
            spans = row is not None and row.first <= post.position <= row.last
            if hits or (row is not None and spans and not self.stands(person, thread, row)):
                self.settle(thread, person)

    def _drop(self, thread: Thread, step: Step) -> None:
        for person in filter(step.concerns, list(thread.rows)):
            del thread.rows[person]
            self.touch(person)
        if step.upto is None:
            del self.threads[thread.key]

    def _wake(self, thread: Thread, person: int) -> None:
        row = thread.rows.get(person)
        if row and row.snoozed and row.snoozed <= self.now and not row.hidden:
            row.snoozed, row.read, row.done, row.unread_seq = None, False, False, 0
            row.seq = self.next_version(person)
            self.bumped.add((thread.key, person))
            self.touch(person)
