"""Events of the host's own, messages to people, and why somebody hears."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from clarion.api.door import HostDoor, HostPost
from clarion.api.perform import troubles_as_ours
from clarion.api.shapes import Actor, Id, In, KeyIn, Number, Out, PersonPath, Text, refusals
from clarion.model.errors import Conflict, NotFound
from clarion.outbox.cloudevents import STRUCTURED, parse_request
from clarion.outbox.publish import KeyTypes, notify, publish

router = APIRouter(tags=["events"])

MAX_TO = 1000
"""People of one message (K2)."""


class EventOut(Out):
    """The event that was published."""

    event: Id = Field(examples=["118"])


class MessageIn(In):
    """A message to some people."""

    to: list[KeyIn] = Field(min_length=1, max_length=MAX_TO)
    kind: Text = Field("message", examples=["export.ready"])
    title: Text = Field(examples=["Your export is ready"])
    link: Text = ""
    body: Annotated[Text, Field(description="Markdown, at most 65,536 bytes.")] = ""
    actor: Actor = None


class JudgementOut(Out):
    """One rule as it stands for the person now."""

    rule: str
    column: str
    verdict: Literal["passed", "stopped", "not reached"]
    words: str


class WhyOut(Out):
    """What was recorded of an event for a person, and what the rules say now."""

    event: Id
    type: str
    state: str
    outcome: str | None
    recorded: Sequence[str]
    reasons: Sequence[str]
    now: Sequence[JudgementOut]
    hears_now: bool
    sentence: str


_ENVELOPE: dict[str, Any] = {
    "type": "object",
    "required": ["specversion", "id", "source", "type"],
    "properties": {
        "specversion": {"const": "1.0"},
        "id": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Unique with `source`."},
        "source": {"type": "string", "minLength": 1, "maxLength": 200},
        "type": {"type": "string", "maxLength": 100, "pattern": r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$"},
        "subject": {"type": "string", "description": "The thread's key, unless `thread` names it."},
        "thread": {"type": "string", "description": "The thread's key."},
        "post": {"type": "string", "description": "The post's key."},
        "actor": {"type": ["string", "integer"], "description": "Who did it: a person's key."},
        "space": {"type": ["string", "integer"], "description": "The space's key."},
        "data": {"type": "object", "description": "The keys of what changed, never its content; at most 8 kB."},
    },
}
_KEYS = {"type": "object", "description": "The keys of what changed, with the attributes in ce- headers."}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {STRUCTURED: {"schema": _ENVELOPE}, "application/json": {"schema": _KEYS}},
    }
}


@router.post("/v1/events", status_code=202, response_model=EventOut, responses=refusals(Conflict), openapi_extra=_BODY)
async def publish_an_event(request: Request, door: HostPost) -> Response:
    """Publish an event as a CloudEvent 1.0.

    Structured mode (application/cloudevents+json) or binary mode (ce- headers, the keys as JSON body). The same
    `source` and `id` twice are one event; with another content they are refused. Your resolver for its type
    says what happened, when it is handled.
    """
    event = parse_request(dict(request.headers), await request.body())
    return await door.answer(_accepted, publish, event, _types(door))


@router.post("/v1/notify", status_code=202, response_model=EventOut, responses=refusals(Conflict, NotFound))
async def notify_people(new: MessageIn, door: HostPost) -> Response:
    """Address some people directly, with a thread of its own."""
    return await door.answer(
        _accepted,
        notify,
        door.people(new.to),
        kind=new.kind,
        title=new.title,
        link=new.link,
        body=new.body,
        actor=door.person_if(new.actor),
        types=_types(door),
    )


@router.get("/v1/events/{event}/why/{person:key}", responses=refusals(NotFound))
async def tell_why(event: Number, person: PersonPath, door: HostDoor) -> WhyOut:
    """Tell why a person hears of an event, or does not.

    What was recorded when it was handled, and each rule as it stands now: passed, stopped or not reached.
    """
    with troubles_as_ours():
        return WhyOut.model_validate(await door.engine.why(int(event), person))


def _accepted(event: int) -> tuple[int, EventOut]:
    return 202, EventOut(event=str(event))


def _types(door: HostPost) -> KeyTypes:
    return KeyTypes(door.engine.settings.person_key, door.engine.settings.space_key)
