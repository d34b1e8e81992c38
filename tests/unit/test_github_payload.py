"""GitHub's webhook payloads: each comes out as values, as ignored with a reason, or is named as foreign."""

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from clarion.ingest import commands as to
from clarion.ingest.github_payload import ForeignPayload, Ignored, read_payload

REPOSITORY = Path(__file__).parents[2]
OURS = REPOSITORY / "tests/data/github"
SAMPLE = REPOSITORY / "src/clarion/ingest/sample"
REAL = REPOSITORY.parent / "shared/data/github"  # GitHub's own examples, where they are at hand
FILES = [path for folder in (OURS, SAMPLE, REAL) for path in sorted(folder.glob("*.json"))]


def read(name: str) -> tuple[to.Command, ...]:
    """The values of one of our own payloads."""
    found = read_payload((OURS / name).read_bytes(), name=name)
    assert not isinstance(found, Ignored)
    return found


def changed(name: str, change: Callable[[Any], object]) -> bytes:
    """One of our own payloads, changed."""
    payload = json.loads((OURS / name).read_bytes())
    change(payload)
    return json.dumps(payload).encode()


def kinds(found: tuple[to.Command, ...]) -> list[str]:
    return [type(command).__name__ for command in found]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-2]}-{path.name}")
def test_every_file_is_read_or_ignored_with_a_reason(path: Path) -> None:
    found = read_payload(path.read_bytes(), name=path.name)
    if isinstance(found, Ignored):
        assert path.name == "star.00.created.json"
        assert found.reason.endswith("read")
    else:
        assert found
        assert_known_before_named(found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-2]}-{path.name}")
def test_the_fields_tell_the_event_where_the_name_does_not(path: Path) -> None:
    by_name = read_payload(path.read_bytes(), name=path.name)
    by_fields = read_payload(path.read_bytes(), name="payload.json")
    assert by_fields == by_name


def test_every_kind_of_value_occurs_in_our_own_files() -> None:
    found = [read_payload(path.read_bytes(), name=path.name) for path in FILES if path.parent != REAL]
    seen = {type(command) for commands in found if not isinstance(commands, Ignored) for command in commands}
    not_simple = {to.RevokeTeam, to.DeleteSpace}  # tested below
    assert seen | not_simple == set(get_args(to.Command))


def assert_known_before_named(found: tuple[to.Command, ...]) -> None:
    """Nobody and nothing is named by a value before another made sure of it."""
    people: set[object] = {None}
    places: set[object] = {None}
    for command in found:
        facts = getattr(command, "facts", command)
        named = {field.name: getattr(facts, field.name) for field in fields(facts)}
        assert getattr(command, "actor", None) in people
        assert {named.get("author"), named.get("person"), named.get("owner")} <= people
        assert {named.get("organisation"), named.get("space"), named.get("to_space"), named.get("of")} <= places
        assert {named.get("thread"), named.get("team"), named.get("post")} <= places
        if isinstance(command, to.EnsurePerson):
            people.add(command.key)
        else:
            places.add(named.get("key"))


def test_an_opened_issue_is_all_that_the_payload_says() -> None:
    assert read("issues.00.opened.json") == (
        to.EnsurePerson(key=11, handle="kim", name=None, kind="person"),
        to.EnsureSpace(key=23, name="kim/notes", visibility="public", organisation=None, owner=11),
        found := read("issues.00.opened.json")[-1],
    )
    assert isinstance(found, to.OpenThread)
    assert (found.actor, found.facts.key, found.facts.kind) == (11, "23#1", "issue")
    assert (found.facts.author, found.facts.body, found.facts.is_closed) == (None, "", False)
    assert found.facts.created_at.isoformat() == "2026-02-01T10:00:00+00:00"


def test_a_bot_gets_a_handle_that_no_person_has() -> None:
    bot = to.EnsurePerson(key=13, handle="paint.bot", name=None, kind="bot")
    assert bot in read("pull_request.00.opened.json")


def test_a_comment_on_a_pull_request_belongs_to_the_same_thread_whatever_its_ids() -> None:
    opened, edited = read("pull_request.00.opened.json")[-1], read("issue_comment.00.edited.json")
    (thread,) = [command for command in edited if isinstance(command, to.EnsureThread)]
    assert isinstance(opened, to.OpenThread)
    assert thread.facts.key == opened.facts.key == "21#6"
    assert thread.facts.kind == opened.facts.kind == "pull_request"


def test_W12_an_edit_knows_the_text_before_it() -> None:
    *_, before, after = read("issue_comment.00.edited.json")
    assert isinstance(before, to.EnsurePost)
    assert before.facts.body == "So does green."
    assert after == to.EditPost(thread="21#6", post="comment:41", body="So does green, @kim.", actor=12)


def test_W12_an_edit_of_a_thread_knows_the_texts_before_it() -> None:
    *_, before, after = read("issues.03.edited.json")
    assert isinstance(before, to.EnsureThread)
    assert (before.facts.title, before.facts.body) == ("Colors run", "")
    assert after == to.EditThread(thread="21#5", title="Colours run", body="Blue does, red does not.", actor=11)


def test_a_thread_that_closes_was_open_before() -> None:
    *_, before, after = read("issues.04.closed.json")
    assert isinstance(before, to.EnsureThread)
    assert not before.facts.is_closed
    assert after == to.CloseThread(thread="21#5", merged=False, actor=11)


def test_a_merge_closes_too() -> None:
    assert read("pull_request.01.closed.json")[-1] == to.CloseThread(thread="21#6", merged=True, actor=11)


def test_W13_a_review_comment_names_its_review() -> None:
    review = read("pull_request_review.00.submitted.json")[-1]
    comment = read("pull_request_review_comment.00.created.json")[-1]
    assert isinstance(review, to.SubmitReview)
    assert isinstance(comment, to.AddPost)
    assert review.facts.key == comment.facts.review == "review:51"
    assert (review.facts.state, review.facts.body) == ("approved", "")
    assert (comment.facts.key, comment.facts.kind) == ("review_comment:42", "review_comment")


def test_W17_a_transfer_says_the_same_where_it_leaves_and_where_it_arrives() -> None:
    left, arrived = read("issues.01.transferred.json"), read("issues.02.opened.json")
    assert set(left) == set(arrived)
    link = "https://forge.example/brush/cellar/issues/9"
    assert left[-1] == arrived[-1]
    assert left[-1] == to.MoveThread(thread="21#5", to_key="22#9", to_space=22, number=9, link=link, actor=12)


def test_a_team_may_be_asked_for_review() -> None:
    assert read("pull_request.02.review_requested.json")[-2:] == (
        to.EnsureTeam(key=31, organisation=2, slug="old-masters", name="Old Masters"),
        to.RequestReview(thread="21#6", person=None, team=31, actor=13),
    )


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("member.00.added.json", to.SetMember(scope="space", of=22, person=12, permission="write", actor=11)),
        ("member.01.removed.json", to.RemoveMember(scope="space", of=22, person=12, actor=11)),
        ("membership.00.removed.json", to.RemoveMember(scope="team", of=31, person=12, actor=11)),
        ("organization.00.member_removed.json", to.RemoveMember(scope="organisation", of=2, person=12, actor=11)),
        ("team.00.deleted.json", to.DeleteTeam(key=31, actor=11)),
        ("team_add.00.json", to.GrantTeam(team=31, space=22, permission="pull", actor=11)),
        ("repository.00.privatized.json", to.SetVisibility(space=21, visibility="private", actor=11)),
    ],
)
def test_W15_who_may_read_what(name: str, last: to.Command) -> None:
    assert read(name)[-1] == last


@pytest.mark.parametrize(
    ("private", "visibility", "expected"),
    [
        (True, "public", "private"),
        (True, None, "private"),
        (False, "private", "private"),
        (False, "internal", "private"),
        (False, "public", "public"),
        (False, None, "public"),
    ],
)
def test_W15_of_private_and_visibility_the_stricter_counts(
    private: bool, visibility: str | None, expected: str
) -> None:
    said = {"private": private, "visibility": visibility}
    found = read_payload(changed("issues.00.opened.json", lambda payload: payload["repository"].update(said)))
    assert not isinstance(found, Ignored)
    assert [command.visibility for command in found if isinstance(command, to.EnsureSpace)] == [expected]


@pytest.mark.parametrize(
    ("name", "action", "last"),
    [
        ("repository.00.privatized.json", "deleted", to.DeleteSpace(key=21, actor=11)),
        ("repository.00.privatized.json", "publicized", to.SetVisibility(space=21, visibility="public", actor=11)),
        ("issues.04.closed.json", "reopened", to.ReopenThread(thread="21#5", actor=11)),
        ("issues.04.closed.json", "deleted", to.DeleteThread(thread="21#5", actor=11)),
        ("issues.04.closed.json", "pinned", to.Housekeeping(thread="21#5", kind="pinned", actor=11)),
        ("issue_comment.01.created.json", "deleted", to.DeletePost(thread="21#5", post="comment:41", actor=12)),
        (
            "pull_request_review.00.submitted.json",
            "dismissed",
            to.DismissReview(thread="21#6", post="review:51", actor=11),
        ),
    ],
)
def test_other_actions_on_the_same_fields(name: str, action: str, last: to.Command) -> None:
    found = read_payload(changed(name, lambda payload: payload.update(action=action)), name=name)
    assert not isinstance(found, Ignored)
    assert found[-1] == last


def test_W15_a_team_loses_a_space() -> None:
    content = changed("team_add.00.json", lambda payload: payload.update(action="removed_from_repository"))
    found = read_payload(content, event="team")
    assert not isinstance(found, Ignored)
    assert found[-1] == to.RevokeTeam(team=31, space=22, actor=11)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("star.00.created.json", {}, "not one of the events that are read"),
        ("issues.04.closed.json", {"action": "sung"}, "issues events with the action 'sung' are not read"),
        ("issue_comment.01.created.json", {"action": "x"}, "issue_comment events with the action 'x' are not read"),
        ("member.00.added.json", {"action": "x"}, "member events with the action 'x' are not read"),
        ("team.00.deleted.json", {"action": "x"}, "team events with the action 'x' are not read"),
        ("repository.00.privatized.json", {"action": "x"}, "repository events with the action 'x' are not read"),
    ],
)
def test_what_is_not_read_is_ignored_with_a_reason(name: str, change: dict[str, str], reason: str) -> None:
    content = changed(name, lambda payload: payload.update(change))
    assert read_payload(content, name=name) == Ignored(reason)


def test_an_event_that_is_given_counts_before_the_name() -> None:
    content = (OURS / "issues.04.closed.json").read_bytes()
    assert read_payload(content, name="issues.json", event="push") == Ignored("push events are not read")
    assert read_payload(content, name="member.json", event="issues") == read("issues.04.closed.json")
    with pytest.raises(ForeignPayload, match="no `member`"):
        read_payload(content, name="member.json")
