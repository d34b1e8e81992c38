"""CloudEvents 1.0 in structured and binary mode (O11)."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.model.errors import Invalid, TooLarge
from clarion.outbox.cloudevents import MAX_BODY_BYTES, parse_request
from clarion.outbox.publish import NewEvent, publish

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""The first text that is drawn reads the tables of all characters; a machine may be busy."""

STRUCTURED = {"Content-Type": "application/cloudevents+json; charset=utf-8"}
LEAST: dict[str, Any] = {"specversion": "1.0", "id": "A-1", "source": "/forge", "type": "comment.created"}
FULL = LEAST | {
    "time": "not looked at",
    "subject": "issue:12",
    "post": "comment:5",
    "actor": 7,
    "space": "3",
    "datacontenttype": "application/json",
    "data": {"comment_id": 5, "grüße": "🎉"},
    "traceparent": "another extension",
}
EVENT = NewEvent(
    type="comment.created",
    keys={"comment_id": 5, "grüße": "🎉"},
    actor=7,
    thread="issue:12",
    post="comment:5",
    space="3",
    idempotency_key="A-1",
    source="/forge",
)


def structured(**changes: Any) -> NewEvent:
    return parse_request(STRUCTURED, json.dumps(LEAST | changes).encode())


def test_structured_mode() -> None:
    assert parse_request(STRUCTURED, json.dumps(FULL).encode()) == EVENT
    assert structured() == NewEvent(type="comment.created", idempotency_key="A-1", source="/forge")
    assert structured(subject=None, data=None, actor=None) == structured()
    assert structured(subject="s", thread="t").thread == "t"


def test_binary_mode() -> None:
    headers = {
        "Content-Type": "application/json",
        "CE-SpecVersion": "1.0",
        "ce-id": "A-1",
        "ce-source": "/forge",
        "ce-type": "comment.created",
        "ce-thread": "issue%3A12",
        "ce-post": "comment:5",
        "ce-actor": "7",
        "ce-space": "3",
        "ce-data": "not an attribute",
    }
    body = json.dumps(FULL["data"]).encode()
    event = parse_request(headers, body)
    assert (event.keys, event.thread, event.actor, event.idempotency_key) == (FULL["data"], "issue:12", "7", "A-1")
    assert parse_request(headers, b"").keys == {}
    for wrong in ("text/plain", "", "application/xml"):
        with pytest.raises(Invalid, match="datacontenttype"):
            parse_request(headers | {"Content-Type": wrong}, body)
    assert parse_request(headers | {"Content-Type": "application/vnd.forge+json"}, body).keys == FULL["data"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("specversion", None),
        ("specversion", "0.3"),
        ("id", None),
        ("id", ""),
        ("id", 5),
        ("id", "x" * 201),
        ("source", None),
        ("source", ""),
        ("type", None),
        ("type", "com.example.CommentCreated"),
        ("type", ["a.b"]),
        ("subject", 5),
        ("thread", ""),
        ("thread", "\0"),
        ("post", "comment:5"),
        ("actor", True),
        ("actor", 2**63),
        ("actor", {}),
        ("space", 1.5),
        ("data", []),
        ("data", "text"),
        ("data", {"x": 1e300}),
        ("data", {"x": "\ud800"}),
        ("data_base64", "e30="),
        ("datacontenttype", "text/xml"),
        ("datacontenttype", 5),
    ],
)
def test_an_error_names_the_attribute(name: str, value: Any) -> None:
    with pytest.raises(Invalid) as raised:
        structured(**{name: value})
    assert ("thread" if name == "post" else name) in str(raised.value).split(":")[0]


def test_a_deletion_names_its_thread() -> None:
    with pytest.raises(Invalid, match="thread"):
        structured(type="comment.deleted")
    assert structured(type="comment.deleted", subject="issue:12").thread == "issue:12"


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({}, b"{}"),
        ({"content-type": "application/json"}, b"{}"),
        ({"content-type": "application/cloudevents-batch+json"}, b"[]"),
        (STRUCTURED, b""),
        (STRUCTURED, b"[]"),
        (STRUCTURED, b"\xff"),
        (STRUCTURED, b'{"specversion": NaN}'),
        (STRUCTURED, b"[" * 60_000),
        (STRUCTURED, b'{"id": ' + b"9" * 5000 + b"}"),
    ],
)
def test_what_is_no_cloud_event_is_refused(headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(Invalid):
        parse_request(headers, body)


def test_K2_a_body_and_its_keys_have_limits() -> None:
    with pytest.raises(TooLarge, match="the body takes"):
        parse_request(STRUCTURED, b" " * (MAX_BODY_BYTES + 1))
    with pytest.raises(TooLarge, match="data takes"):
        structured(data={"x": "x" * 8200})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
NAMES = st.sampled_from([*FULL, "thread", "data_base64"])


@PATIENT
@given(st.dictionaries(NAMES, JSON | st.sampled_from(["1.0", "a.b", "a.deleted"])))
def test_a_hostile_envelope_is_refused_or_can_be_published(changes: dict[str, Any]) -> None:
    body = json.dumps(FULL | changes).encode()
    _refused_or_published(STRUCTURED, body)


@PATIENT
@given(st.dictionaries(st.sampled_from([*STRUCTURED, "ce-specversion", "ce-id", "ce-type"]), st.text()), st.binary())
def test_a_hostile_request_is_refused_or_can_be_published(headers: dict[str, str], body: bytes) -> None:
    _refused_or_published(headers, body)
    _refused_or_published(STRUCTURED, body)
    _refused_or_published({"ce-source": "/", **headers, "ce-specversion": "1.0"}, body)


def _refused_or_published(headers: dict[str, str], body: bytes) -> None:
    try:
        event = parse_request(headers, body)
    except (Invalid, TooLarge):
        return
    assert next(publish(event)).name == "publish_event"
