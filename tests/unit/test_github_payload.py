"""GitHub's webhook payloads: each comes out as values, as ignored with a reason, or is named as foreign."""

# ruff: noqa: N802 - tests cite rules by their names

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}-{path.name}")
def test_every_file_is_read_or_ignored_with_a_reason(path: Path) -> None:
    found = read_payload(path.read_bytes(), name=path.name)
    if isinstance(found, Ignored):
        assert path.name == "star.00.created.json"
        assert found.reason.endswith("read")
    else:
        assert found
        assert_known_before_named(found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}-{path.name}")
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
    assert read("pull_request.00.opened.json")[0] == to.EnsurePerson(key=13, handle="paint.bot", name=None, kind="bot")


def test_a_comment_on_a_pull_request_belongs_to_the_same_thread_whatever_its_ids() -> None:
    *_, opened = read("pull_request.00.opened.json")
    *_, thread, _, edit = read("issue_comment.00.edited.json")
    assert isinstance(opened, to.OpenThread)
    assert isinstance(edit, to.EditPost)
    assert edit.thread == opened.facts.key == "21#6"
    assert any(isinstance(command, to.EnsureThread) for command in read("issue_comment.00.edited.json"))
    assert not isinstance(thread, to.OpenThread)


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
    review, comment = (
        read("pull_request_review.00.submitted.json")[-1],
        read("pull_request_review_comment.00.created.json")[-1],
    )
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


def test_W15_of_private_and_visibility_the_stricter_counts() -> None:
    for private, visibility, expected in [
        (True, "public", "private"),
        (False, "private", "private"),
        (False, "internal", "private"),
        (False, "public", "public"),
        (True, None, "private"),
    ]:
        content = changed(
            "issues.00.opened.json",
            lambda p, v=visibility, x=private: p["repository"].update(private=x, visibility=v),
        )
        found = read_payload(content)
        assert not isinstance(found, Ignored)
        (space,) = [command for command in found if isinstance(command, to.EnsureSpace)]
        assert space.visibility == expected


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


STRIPE = {"id": "evt_1", "object": "event", "type": "charge.failed", "data": {"object": {"id": "ch_1"}}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"not json", "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
        (b"[]", "got `array`"),
        (b"null", "got `null`"),
        (b'"issues"', "got `str`"),
        (b"{}", "no `sender`"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b"[" * 1_000_000, "not JSON"),
        (b'{"sender": {"id": 1, "login": "x"}', "not JSON"),
        (json.dumps(STRIPE).encode(), "no `sender`"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_a_foreign_file_is_named_as_such(content: bytes, message: str) -> None:
    with pytest.raises(ForeignPayload, match=message):
        read_payload(content, name="issues.00.opened.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.pop("issue"), "no `issue`"),
        (lambda p: p.pop("repository"), "no `repository`"),
        (lambda p: p["issue"].pop("number"), "`issue`.*`number`"),
        (lambda p: p.update(issue=[]), "`issue`.*got `array`"),
        (lambda p: p.update(action=1), "`action`"),
        (lambda p: p.update(sender=None), "`sender`"),
        (lambda p: p["sender"].update(id="11"), "`sender`.*got `str`"),
        (lambda p: p["sender"].update(id=True), "`sender`.*got `bool`"),
        (lambda p: p["sender"].update(id=0), "`sender`.*>= 1"),
        (lambda p: p["sender"].update(id=2**63), "`sender`.*<="),
        (lambda p: p["sender"].update(id=10**400), "`sender`"),
        (lambda p: p["sender"].update(login="no handle"), "no handle"),
        (lambda p: p["sender"].update(login="a" * 101), "no handle"),
        (lambda p: p["sender"].update(login=""), "`sender`"),
        (lambda p: p["repository"].update(full_name="notes"), "`repository`"),
        (lambda p: p["repository"].update(private="no"), "`repository`"),
        (lambda p: p["issue"].update(html_url="javascript:alert(1)"), "`issue`.*html_url"),
        (lambda p: p["issue"].update(created_at="yesterday"), "`issue`.*created_at"),
        (lambda p: p["issue"].update(created_at="2026-02-01T10:00:00"), "timezone"),
        (lambda p: p["issue"].update(created_at="0001-01-01T00:00:00Z"), "the year 1"),
        (lambda p: p["issue"].update(title=""), "`issue`.*title"),
        (lambda p: p["issue"].update(title="x" * 1025), "`issue`.*title"),
        (lambda p: p["issue"].update(title="a\0b"), "NUL"),
        (lambda p: p["issue"].update(body="a\0b"), "NUL"),
        (lambda p: p["issue"].update(body="\ud800"), "`issue`"),
        (lambda p: p["issue"].update(body="x" * 65537), "65536"),
        (lambda p: p["issue"].update(body="é" * 32769), "65536"),
    ],
)
def test_a_broken_payload_is_named_with_what_is_wrong(change: Callable[[Any], object], message: str) -> None:
    with pytest.raises(ForeignPayload, match=message):
        read_payload(changed("issues.00.opened.json", change), name="issues.00.opened.json")


def test_K2_a_text_of_exactly_the_limit_is_read() -> None:
    content = changed("issues.00.opened.json", lambda payload: payload["issue"].update(body="é" * 32768))
    assert not isinstance(read_payload(content), Ignored)


def test_what_is_not_read_may_be_anything() -> None:
    def change(payload: Any) -> None:
        payload.update(installation=[1], enterprise="\ud800", assignee=7)
        payload["issue"].update(labels={"a": 10**400}, reactions=None, assignees="\0")

    content = changed("issues.00.opened.json", change)
    assert read_payload(content, name="issues.json") == read("issues.00.opened.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.data(), st.sampled_from(sorted(OURS.glob("*.json"))), JSON)
@settings(max_examples=400, deadline=None)
def test_a_payload_with_any_part_replaced_is_read_or_refused(data: st.DataObject, path: Path, value: Any) -> None:
    payload = json.loads(path.read_bytes())
    place = payload
    while True:
        key = data.draw(st.sampled_from(sorted(place)))
        if not isinstance(place[key], dict) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = value
    try:
        found = read_payload(json.dumps(payload).encode(), name=path.name)
    except ForeignPayload as error:
        assert str(error)
    else:
        assert isinstance(found, Ignored) or all(isinstance(command, get_args(to.Command)) for command in found)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(ForeignPayload):
        read_payload(content)
