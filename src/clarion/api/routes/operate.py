"""The outbox, seen and moved by hand."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from clarion.api.door import HostDoor, HostPost
from clarion.api.shapes import Id, In, Number, Out, Text, refusals
from clarion.model.errors import Invalid, NotFound
from clarion.outbox import operate

router = APIRouter(tags=["operate"], responses=refusals())

State = Literal["waiting", "done", "skipped", "set_aside", "dropped"]


class EventRowOut(Out):
    """An event of the outbox as it stands."""

    id: Id
    type: str
    actor: Id | None
    thread_key: str | None
    post_key: str | None
    space: Id | None
    keys: Mapping[str, Any]
    state: State
    attempts: int
    last_error: str | None
    outcome: str | None
    created_at: datetime
    available_at: datetime
    settled_at: datetime | None


class EventsOut(Out):
    """Some events."""

    events: Sequence[EventRowOut]


class ChosenIn(In):
    """Events set aside (dead letters): these ids, those whose error has this text, or all."""

    events: list[Annotated[Text, Field(pattern=r"^[0-9]{1,18}$")]] | None = Field(None, max_length=1000)
    error: Text | None = Field(None, min_length=1, max_length=1000)
    all: Annotated[bool, Field(description="Must be true where neither events nor error are given.")] = False


class MovedOut(Out):
    """The events that were moved."""

    events: list[Id]


@router.get("/v1/outbox")
async def list_outbox(
    door: HostDoor,
    state: Annotated[State | None, Query(description="Only events in this state.")] = None,
    before: Annotated[str | None, Query(pattern=r"^[0-9]{1,18}$", description="Only events before this id.")] = None,
    limit: Annotated[int, Query(ge=1, le=operate.MAX_LISTED, description="Events of the list.")] = 50,
) -> EventsOut:
    """List events of the outbox, newest first."""
    place = None if before is None else int(before)
    events = await door.run(operate.list_events, state=state, before=place, limit=limit)
    return EventsOut(events=[EventRowOut.model_validate(event) for event in events])


@router.get("/v1/outbox/{event}", responses=refusals(NotFound))
async def show_event(event: Number, door: HostDoor) -> EventRowOut:
    """Show one event."""
    return EventRowOut.model_validate(await door.run(operate.show_event, int(event)))


@router.post("/v1/outbox/retry", response_model=MovedOut)
async def retry_events(which: ChosenIn, door: HostPost) -> Response:
    """Give events that were set aside a fresh start."""
    return await door.answer(_moved, operate.retry_events, **_chosen(which))


@router.post("/v1/outbox/drop", response_model=MovedOut)
async def drop_events(which: ChosenIn, door: HostPost) -> Response:
    """Give events that were set aside up for good; they stay readable until pruned."""
    return await door.answer(_moved, operate.drop_events, **_chosen(which))


def _chosen(which: ChosenIn) -> dict[str, Any]:
    if which.events is None and which.error is None and not which.all:
        raise Invalid("name events, or a part of their error, or say all: true")
    events = None if which.events is None else [int(event) for event in which.events]
    return {"events": events, "error": which.error}


def _moved(events: list[int]) -> MovedOut:
    return MovedOut(events=[str(event) for event in events])
