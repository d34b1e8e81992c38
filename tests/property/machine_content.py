"""The machine's content: threads, posts, roles, people and access."""

from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from clarion.content import housekeeping, members, posts, roles, threads
from clarion.content import people as persons
from clarion.content import spaces as places
from clarion.model.errors import Conflict
from clarion.outbox.publish import notify
from property.driver import HARBOR, VAULT
from property.machine import Machine, handles, people, spaces, texts
from support.model_facts import Text

has_thread = precondition(lambda self: bool(self.living()))
a_role = st.sampled_from(["assigned", "review_requested"])


class ContentRules(Machine):
    """What happens in the host's content."""

    @rule(space=spaces, author=people, text=texts)
    def open_thread(self, space: int, author: int, text: Text) -> None:
        key = self.new_key("i")
        self.driver.do(
            threads.open_thread(key, space=space, kind="pull_request", title="T", body=str(text), author=author),
            lambda: self.oracle.open_thread(key, space, author, text),
        )

    @rule(whom=st.lists(people, min_size=1, max_size=2, unique=True), actor=st.none() | people)
    def notify(self, whom: list[int], actor: int | None) -> None:
        key = self.new_key("m")
        self.driver.do(
            notify(whom, title="M", actor=actor, idempotency_key=key),
            lambda: self.oracle.address(f"notify:{key}", tuple(whom), actor),
        )

    @has_thread
    @rule(data=st.data(), author=people, text=texts, repeat=st.booleans())
    def comment(self, data: Any, author: int, text: Text, repeat: bool) -> None:
        key, thread = self.new_key("c"), self.draw(data, self.living())
        command = posts.add_comment(key, thread=thread, body=str(text), author=author)
        if repeat:
            self.driver.undone(posts.add_comment(key, thread=thread, body=str(text), author=author))
        self.driver.do(command, lambda: self.oracle.comment(key, thread, author, text))

    @has_thread
    @rule(data=st.data(), author=people, text=texts, part=texts)
    def review(self, data: Any, author: int, text: Text, part: Text) -> None:
        key, thread = self.new_key("r"), self.draw(data, self.living())
        comments = [posts.ReviewComment(key=f"{key}.1", body=str(part))]
        self.driver.do(
            posts.submit_review(key, thread=thread, body=str(text), author=author, comments=comments),
            lambda: self.oracle.review(key, thread, author, text, {f"{key}.1": part}),
        )

    @has_thread
    @rule(data=st.data(), actor=people, text=texts, undo=st.booleans())
    def edit(self, data: Any, actor: int, text: Text, undo: bool) -> None:
        living = self.living()
        key = self.draw(data, [key for key, p in self.oracle.posts.items() if not p.deleted and p.thread in living])
        if undo:
            self.driver.undone(posts.edit_post(key, body=str(text), actor=actor))
        else:
            command = posts.edit_post(key, body=str(text), actor=actor)
            self.driver.do(command, lambda: self.oracle.edit(key, text, actor))

    @precondition(lambda self: self.deletable())
    @rule(data=st.data(), actor=people, most=st.integers(1, 3))
    def delete_posts(self, data: Any, actor: int, most: int) -> None:
        for _ in range(most):
            if keys := self.deletable():
                key = self.draw(data, keys)
                self.driver.do(posts.delete_post(key, actor=actor), partial(self.oracle.delete_post, key, actor))

    def deletable(self) -> list[str]:
        return [k for k, p in self.oracle.posts.items() if not p.deleted and p.kind not in {"opening", "message"}]

    @precondition(lambda self: bool(self.living(in_space=False)))
    @rule(data=st.data(), actor=people, sure=st.integers(0, 2))
    def delete_thread(self, data: Any, actor: int, sure: int) -> None:
        key = self.draw(data, self.living(in_space=False))
        if sure:
            self.driver.undone(threads.delete_thread(key, actor=actor))
        else:
            self.driver.do(threads.delete_thread(key, actor=actor), lambda: self.oracle.delete_thread(key, actor))

    @has_thread
    @rule(data=st.data(), actor=people)
    def change_state(self, data: Any, actor: int) -> None:
        key = self.draw(data, self.living())
        match self.oracle.content[key].state:
            case "open":
                state = data.draw(st.sampled_from(["closed", "merged"]))
                command = (threads.close_thread if state == "closed" else threads.merge_thread)(key, actor=actor)
            case "closed":
                state, command = "open", threads.reopen_thread(key, actor=actor)
            case _:
                self.driver.do(
                    housekeeping.record_change(key, "locked", actor=actor), lambda: self.oracle.housekeep(key, actor)
                )
                return
        self.driver.do(command, lambda: self.oracle.set_state(key, state, actor))

    @has_thread
    @rule(data=st.data(), actor=people, to=spaces)
    def move(self, data: Any, actor: int, to: int) -> None:
        key = self.draw(data, self.living())
        self.driver.do(threads.move_thread(key, to=to, actor=actor), lambda: self.oracle.move(key, to, actor))

    @has_thread
    @rule(data=st.data(), role=a_role, actor=people, whom=st.lists(people, min_size=1, max_size=2, unique=True))
    def give_role(self, data: Any, role: str, actor: int, whom: list[int]) -> None:
        key = self.draw(data, self.living())
        give = roles.assign if role == "assigned" else roles.request_review
        self.driver.do(give(key, whom, actor=actor), lambda: self.oracle.give_role(key, role, tuple(whom), actor))

    @precondition(lambda self: any(self.oracle.content[key].roles for key in self.living()))
    @rule(data=st.data(), actor=people)
    def take_role(self, data: Any, actor: int) -> None:
        key = self.draw(data, [key for key in self.living() if self.oracle.content[key].roles])
        role, person = data.draw(st.sampled_from(sorted(self.oracle.content[key].roles)))
        take = roles.unassign if role == "assigned" else roles.remove_review_request
        self.driver.do(take(key, [person], actor=actor), lambda: self.oracle.take_role(key, role, (person,), actor))


class AccessRules(Machine):
    """Who is there, and who may read what."""

    @rule(person=people, handle=handles)
    def rename(self, person: int, handle: str) -> None:
        command = persons.change_person(person, handle=handle)
        taken = any(p.handle == handle for number, p in self.oracle.people.items() if number != person)
        if taken:
            self.driver.refused(command, Conflict)
        else:
            self.driver.do(command, lambda: self.oracle.rename(person, handle))

    @rule(person=people, active=st.booleans())
    def activate(self, person: int, active: bool) -> None:
        def replay() -> None:
            self.oracle.people[person].active = active

        self.driver.do(persons.change_person(person, active=active), replay)

    @rule(space=spaces, visibility=st.sampled_from(places.VISIBILITIES))
    def set_visibility(self, space: int, visibility: str) -> None:
        command = places.set_visibility(space, visibility)
        self.driver.do(command, lambda: self.oracle.set_visibility(space, visibility))

    @rule(space=st.sampled_from([VAULT, VAULT, HARBOR]), person=people)
    def change_member(self, space: int, person: int) -> None:
        if person in self.oracle.spaces[space].members:
            command = members.remove_space_member(space, person)
            self.driver.do(command, lambda: self.oracle.remove_member(space, person))
        else:
            command = members.add_space_member(space, person)
            self.driver.do(command, lambda: self.oracle.add_member(space, person))

    @rule(person=people)
    def change_team(self, person: int) -> None:
        if person in self.oracle.team:
            self.driver.do(members.remove_team_member("t", person), lambda: self.oracle.leave_team(person))
        else:
            self.driver.do(members.add_team_member("t", person), lambda: self.oracle.join_team(person))

    @rule(person=people)
    def change_organisation(self, person: int) -> None:
        if person in self.oracle.organisation:
            command = members.remove_organisation_member("o", person)
            self.driver.do(command, lambda: self.oracle.leave_organisation(person))
        else:
            command = members.add_organisation_member("o", person)
            self.driver.do(command, lambda: self.oracle.join_organisation(person))
