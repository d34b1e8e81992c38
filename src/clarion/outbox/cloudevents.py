"""CloudEvents 1.0 over HTTP, one event a request, as a `NewEvent` (O11). Pure: the bytes in, the value out.

| attribute | becomes |
|---|---|
| `type` | `type`: dotted lower-case words |
| `source`, `id` | `source`, `idempotency_key`: together unique as long as the event is kept |
| `subject` | `thread`, unless the extension `thread` names it |
| extensions `thread`, `post`, `actor`, `space` | the same; `actor` and `space` text or a number |
| `data` | `keys`: an object of keys, never content (O2); none if it is left out |

`time` is when it happened elsewhere and changes nothing here; it, `dataschema` and other extensions are not
looked at. Structured mode: `application/cloudevents+json`. Binary mode: `ce-` headers, `data` as the body.
Every error names the attribute that is wrong.
"""

import json
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import unquote

from clarion.model.errors import Invalid, TooLarge
from clarion.model.keys import MAX_BIGINT, Key
from clarion.outbox.checks import MAX_KEY_CHARS, check_keys, check_optional, check_text, check_type
from clarion.outbox.publish import NewEvent

MAX_BODY_BYTES = 65536
"""The longest body of a request that is looked at (K2); the keys in it have their own limit."""

STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"


def parse_request(headers: Mapping[str, str], body: bytes) -> NewEvent:
    """Return the event of a request in structured or binary mode; a header's name may have any case.

    Raises: `TooLarge` for a body or keys over their limits, `Invalid` for anything else, naming the attribute.
    """
    if len(body) > MAX_BODY_BYTES:
        raise TooLarge(f"the body takes {len(body)} bytes, at most {MAX_BODY_BYTES} are allowed")
    lower = {name.lower(): value for name, value in headers.items()}
    content_type = _media_type(lower.get("content-type", ""))
    if content_type == BATCH:
        raise Invalid(f"content-type {BATCH}: send one event a request, as {STRUCTURED}")
    if content_type == STRUCTURED:
        envelope = _json("body", body)
        if not isinstance(envelope, dict):
            raise Invalid("body must be a JSON object, the envelope of a CloudEvent")
        return parse_envelope(envelope)
    attributes = {name[3:]: unquote(value) for name, value in lower.items() if name.startswith("ce-")}
    if "specversion" not in attributes:
        raise Invalid(f"content-type must be {STRUCTURED}, or the attributes stand in ce- headers: no ce-specversion")
    attributes.pop("data", None)
    attributes.pop("data_base64", None)
    data = {"data": _json("data", body), "datacontenttype": content_type} if body else {}
    return parse_envelope(attributes | data)


def parse_envelope(envelope: Mapping[str, Any]) -> NewEvent:
    """Return the event of an envelope that was read as JSON. Raises: as `parse_request`."""
    given = {name: value for name, value in envelope.items() if value is not None}
    if given.get("specversion") != "1.0":
        raise Invalid('specversion must be "1.0"')
    if "data_base64" in given:
        raise Invalid("data_base64: the keys of an event are a JSON object, in data")
    content_type = _media_type(check_text("datacontenttype", given.get("datacontenttype", "application/json"), 1000))
    if content_type != "application/json" and not content_type.endswith("+json"):
        raise Invalid("datacontenttype must be application/json")
    for name in ("id", "source", "type"):
        if name not in given:
            raise Invalid(f"{name} is missing: every CloudEvent has one")
    event_type = check_type("type", given["type"])
    thread = check_optional("thread", given["thread"]) if "thread" in given else None
    if thread is None:
        thread = check_optional("subject", given.get("subject"))
    post = check_optional("post", given.get("post"))
    if thread is None and (post is not None or event_type.endswith(".deleted")):
        raise Invalid(f"thread (or subject) is missing: {'a post' if post else event_type} must name its thread")
    keys = given.get("data", {})
    check_keys("data", keys)
    return NewEvent(
        type=event_type,
        keys=keys,
        actor=_key("actor", given),
        thread=thread,
        post=post,
        space=_key("space", given),
        idempotency_key=check_text("id", given["id"], MAX_KEY_CHARS),
        source=check_text("source", given["source"], MAX_KEY_CHARS),
    )


def _key(name: str, given: Mapping[str, Any]) -> Key | None:
    value = given.get(name)
    if isinstance(value, str):
        return check_text(name, value, MAX_KEY_CHARS)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_BIGINT):
        return value
    raise Invalid(f"{name} must be text or a whole number of 64 bits")


def _media_type(value: str) -> str:
    return value.partition(";")[0].strip().lower()


def _json(name: str, body: bytes) -> Any:
    try:
        return json.loads(body.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        # A ValueError is also a text that is not UTF-8, NaN, or a number of thousands of digits.
        raise Invalid(f"{name} is no JSON in UTF-8: {str(error)[:200]}") from error


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
