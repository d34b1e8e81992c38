"""How the oracle replays content commands: the content changes at once, and what must be told is published."""

from support.model_facts import Content, Event, Text, Written
from support.model_handling import Handling


class ContentCommands(Handling):
    """People, places, threads and posts."""

    # Threads and posts

    def open_thread(self, key: str, space: int, author: int, text: Text) -> None:
        self.content[key] = Content(key, space, author)
        self.posts[f"{key}:opening"] = Written(key, "opening", author, text)
        self._say("thread.opened", key, author, post=f"{key}:opening")

    def address(self, key: str, people: tuple[int, ...], actor: int | None) -> None:
        """Replay `notify`."""
        self.content[key] = Content(key, None, actor, roles={("addressed", person) for person in people})
        self.posts[key] = Written(key, "message", actor, Text())
        self._say("message.addressed", key, actor, post=key)

    def comment(self, key: str, thread: str, author: int, text: Text) -> None:
        self.posts[key] = Written(thread, "comment", author, text)
        self._say("comment.created", thread, author, post=key)

    def review(self, key: str, thread: str, author: int, text: Text, comments: dict[str, Text]) -> None:
        self.posts[key] = Written(thread, "review", author, text)
        for part, said in comments.items():
            self.posts[part] = Written(thread, "review_comment", author, said, part_of=key)
        self._say("review.submitted", thread, author, post=key)

    def edit(self, key: str, text: Text, actor: int) -> None:
        post = self.posts[key]
        if post.text != text:
            post.text = text
            kind = "thread.edited" if post.kind == "opening" else "comment.edited"
            self._say(kind, post.thread, actor, post=key)

    def delete_post(self, key: str, actor: int) -> None:
        for each, post in self.posts.items():
            if key in {each, post.part_of} and not post.deleted:
                post.deleted = True
                self._say("comment.deleted", post.thread, actor, post=each)

    def delete_thread(self, key: str, actor: int) -> None:
        self.content[key].deleted = True
        self.content[key].roles.clear()
        for post in self.posts.values():
            post.deleted |= post.thread == key
        self._say("thread.deleted", key, actor)

    def set_state(self, key: str, state: str, actor: int) -> None:
        self.content[key].state = state
        self._say("thread.reopened" if state == "open" else f"thread.{state}", key, actor)

    def housekeep(self, key: str, actor: int) -> None:
        self._say("thread.changed", key, actor)

    def move(self, key: str, space: int, actor: int) -> None:
        if self.content[key].space != space:
            self.content[key].space = space
            self._say("thread.moved", key, actor)

    def give_role(self, key: str, role: str, people: tuple[int, ...], actor: int) -> None:
        new = tuple(person for person in sorted(set(people)) if (role, person) not in self.content[key].roles)
        self.content[key].roles |= {(role, person) for person in new}
        if new:
            self._say("thread.assigned" if role == "assigned" else "thread.review_requested", key, actor, people=new)

    def take_role(self, key: str, role: str, people: tuple[int, ...], actor: int) -> None:
        held = tuple(person for person in sorted(set(people)) if (role, person) in self.content[key].roles)
        self.content[key].roles -= {(role, person) for person in held}
        kind = "thread.unassigned" if role == "assigned" else "thread.review_request_removed"
        if held:
            self._say(kind, key, actor, people=held)

    def _say(
        self, kind: str, thread: str, actor: int | None, post: str | None = None, people: tuple[int, ...] = ()
    ) -> None:
        self.publish(Event(kind, actor, thread, post, self.content[thread].space, people))

    # People and access

    def rename(self, person: int, handle: str) -> bool:
        """Returns whether the handle was free."""
        if any(each.handle == handle for number, each in self.people.items() if number != person):
            return False
        before = self.people[person].handle
        if before != handle:
            self.former[(before, person)] = self.now
            self.former.pop((handle, person), None)
            self.people[person].handle = handle
        return True

    def set_visibility(self, space: int, visibility: str) -> None:
        if self.spaces[space].visibility != visibility:
            self.spaces[space].visibility = visibility
            self.publish(Event("access.changed", space=space))

    def add_member(self, space: int, person: int) -> None:
        if person not in self.spaces[space].members:
            self.spaces[space].members.add(person)
            self.look_at_space(space, [person])

    def remove_member(self, space: int, person: int) -> None:
        if person in self.spaces[space].members:
            self.spaces[space].members.remove(person)
            self.look_at_space(space, [person])

    def join_team(self, person: int) -> None:
        if person not in self.team:
            self.team.add(person)
            self._look_at_team_spaces(person)

    def leave_team(self, person: int) -> None:
        if person in self.team:
            self.team.remove(person)
            self._look_at_team_spaces(person)

    def _look_at_team_spaces(self, person: int) -> None:
        for number, space in self.spaces.items():
            if space.open_to_team:
                self.look_at_space(number, [person])

    def join_organisation(self, person: int) -> None:
        self._change_organisation(person, self.organisation | {person}, self.team)

    def leave_organisation(self, person: int) -> None:
        self._change_organisation(person, self.organisation - {person}, self.team - {person})

    def _change_organisation(self, person: int, organisation: set[int], team: set[int]) -> None:
        if (organisation, team) != (self.organisation, self.team):
            self.organisation, self.team = organisation, team
            for space in self.spaces:
                self.look_at_space(space, [person])
