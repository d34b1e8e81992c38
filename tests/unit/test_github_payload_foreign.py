"""What is no payload of GitHub's, or a broken one, is named as such; what is not read may be anything."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarion.ingest import commands as to
from clarion.ingest.github_payload import ForeignPayload, Ignored, read_payload

OURS = Path(__file__).parents[1] / "data/github"
ISSUE = OURS / "issues.00.opened.json"


def changed(change: Callable[[Any], object]) -> bytes:
    """A payload of an opened issue, changed."""
    payload = json.loads(ISSUE.read_bytes())
    change(payload)
    return json.dumps(payload).encode()


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
        (lambda p: p["issue"].update(body="\ud800"), "JSON is malformed"),
        (lambda p: p["issue"].update(body="x" * 65537), "65536"),
        (lambda p: p["issue"].update(body="é" * 32769), "65536"),
    ],
)
def test_a_broken_payload_is_named_with_what_is_wrong(change: Callable[[Any], object], message: str) -> None:
    with pytest.raises(ForeignPayload, match=message):
        read_payload(changed(change), name="issues.00.opened.json")


def test_K2_a_text_of_exactly_the_limit_is_read() -> None:
    content = changed(lambda payload: payload["issue"].update(body="é" * 32768))
    assert not isinstance(read_payload(content), Ignored)


def test_what_is_not_read_may_be_anything() -> None:
    def change(payload: Any) -> None:
        payload.update(installation=[1], enterprise="\0", assignee=7)
        payload["issue"].update(labels={"a": 10**400}, reactions=None, assignees="\0")

    content = changed(change)
    assert read_payload(content, name="issues.json") == read_payload(ISSUE.read_bytes())


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
    with contextlib.suppress(ForeignPayload):
        found = read_payload(json.dumps(payload).encode(), name=path.name)
        assert isinstance(found, Ignored) or all(isinstance(command, get_args(to.Command)) for command in found)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(ForeignPayload):
        read_payload(content)
