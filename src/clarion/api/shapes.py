"""What requests and answers are made of: the fields that many routes share.

Kept here: ids and keys are strings in every answer (K1), read as strings or whole numbers; a text that no
database can hold is refused, and so is a field that no route knows.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr

from clarion.api.door import engine_of
from clarion.api.errors import STATUS, ErrorOut, Unavailable
from clarion.content.outcome import RoleChange, Saved, Written
from clarion.model import errors
from clarion.model.errors import ClarionError
from clarion.model.inbox import Marked
from clarion.model.keys import Key

_RULE = re.compile(r" \([A-Z]\d+\)")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)


def _storable(text: str) -> str:
    if _UNSTORABLE.search(text):
        raise ValueError("a NUL or half of a surrogate pair is in it, which no text of the database can hold")
    return text


def _in_range(instant: datetime) -> datetime:
    if not _EARLIEST <= instant <= _LATEST:
        raise ValueError("an instant between the years 1970 and 9999 is wanted")
    return instant


Text = Annotated[str, AfterValidator(_storable)]
HostKey = Annotated[Text, Field(min_length=1, max_length=200)]
"""The host's own key of a thread, post, organisation or team."""
KeyIn = Annotated[StrictStr, Field(min_length=1, max_length=200), AfterValidator(_storable)] | StrictInt
"""The host's own key of a person or space, in the type that the schema was made for."""
Instant = Annotated[AwareDatetime, AfterValidator(_in_range)]
"""An instant with its zone, ISO 8601."""
Id = Annotated[str, BeforeValidator(lambda value: value if value is None else str(value))]
"""An id or key in an answer."""

Actor = Annotated[KeyIn | None, Field(description="Who does it: a person's key; none: the system.")]
Number = Annotated[
    str, Path(pattern=r"^[0-9]{1,18}$", description="Digits, as another answer gave them.", examples=["118"])
]


class In(BaseModel):
    """A body that is sent to us: a field that is not known is refused by name."""

    model_config = ConfigDict(extra="forbid")


class Out(BaseModel):
    """A body that we answer with: made from a value of the engine's."""

    model_config = ConfigDict(from_attributes=True)


class ActorIn(In):
    """Who does it."""

    actor: Actor = None


SYSTEM = ActorIn()
"""A body that is left out: nobody did it."""


class WrittenOut(Out):
    """What a command did."""

    key: Id = Field(description="The host's own key.")
    event: Id | None = Field(description="The event that tells of it; null where nobody may hear of it.")
    created: bool
    changed: bool = Field(description="False when everything was so already.")


class ChangedOut(Out):
    """Whether a command changed something."""

    changed: bool = Field(description="False when it was so already.")


class RolesOut(Out):
    """Whose role changed."""

    people: list[Id]
    events: list[Id] = Field(description="The events that tell of it.")


class MarkedOut(Out):
    """What a mark or a choice did, and the inbox after it."""

    changed: int = Field(description="Rows that are another way than before.")
    version: int
    unread_count: int


def written(outcome: Written | Saved) -> tuple[int, WrittenOut]:
    """Show what became of one thing: 201 if it was made, else 200."""
    return (201 if outcome.created else 200), WrittenOut.model_validate(outcome)


def changed(outcome: bool) -> ChangedOut:
    """Show whether something changed."""
    return ChangedOut(changed=outcome)


def roles(outcome: RoleChange) -> RolesOut:
    """Show whose role changed."""
    return RolesOut.model_validate(outcome)


def marked(outcome: Marked) -> MarkedOut:
    """Show what a mark did."""
    return MarkedOut.model_validate(outcome)


async def _person(
    request: Request,
    person: Annotated[str, Path(min_length=1, max_length=200, description="The host's key of a person.")],
) -> Key:
    return engine_of(request).person(_storable_path(person))


async def _space(
    request: Request,
    space: Annotated[str, Path(min_length=1, max_length=200, description="The host's key of a space.")],
) -> Key:
    return engine_of(request).space(_storable_path(space))


async def _actor(
    request: Request,
    actor: Annotated[
        str | None, Query(min_length=1, max_length=200, description="Who does it: a person's key.")
    ] = None,
) -> Key | None:
    return None if actor is None else engine_of(request).person(_storable_path(actor))


def _storable_path(text: str) -> str:
    if "\0" in text:
        raise errors.Invalid("a NUL character is in the URL, which no key can hold")
    return text


PersonPath = Annotated[Key, Depends(_person)]
SpacePath = Annotated[Key, Depends(_space)]
ActorQuery = Annotated[Key | None, Depends(_actor)]


def key_of(what: str) -> Any:
    """Return the declaration of a path parameter that is the host's key of something."""
    return Path(min_length=1, max_length=200, description=f"The host's key of the {what}; write / as %2F and # as %23.")


Storable = AfterValidator(_storable)


def refusals(*classes: type[ClarionError]) -> dict[int | str, dict[str, Any]]:
    """Return how OpenAPI tells of these errors, and of those that every route has."""
    described: dict[int | str, dict[str, Any]] = {
        400: {"model": ErrorOut, "description": "The request cannot be read: no JSON in UTF-8."}
    }
    always = (errors.Unauthorised, errors.Refused, errors.Invalid, errors.TooLarge, Unavailable)
    for each in (*classes, *always):
        text = _RULE.sub("", (each.__doc__ or "").partition("\n")[0])
        described[int(STATUS[each])] = {"model": ErrorOut, "description": text}
    return described
