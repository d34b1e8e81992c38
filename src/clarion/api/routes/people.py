"""People and the tokens that they sign in with."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from clarion.api.credentials import (
    MAX_LABEL_CHARS,
    MAX_TOKEN_DAYS,
    TOKEN_DAYS,
    Issued,
    issue_token,
    make_token,
    new_nonce,
    revoke_token,
    revoke_tokens,
)
from clarion.api.door import HostDoor, HostPost, respond
from clarion.api.idempotency import Answer
from clarion.api.shapes import Id, In, Number, Out, PersonPath, Text, WrittenOut, refusals, written
from clarion.content.people import add_person, change_person, forget_person
from clarion.model.errors import Conflict, Gone, NotFound

router = APIRouter(tags=["people"], responses=refusals(NotFound, Conflict, Gone))


class PersonIn(In):
    """A person, as they are to be."""

    handle: Text = Field(description="What mentions name the person by, without @.", examples=["ada"])
    name: Text = ""
    address: Text = Field("", description="Mail address; empty: none.")
    address_verified: Annotated[bool, Field(description="Whether you verified that it is the person's.")] = False
    locale: Text = Field("en", examples=["pt-BR"])
    zone: Text = Field("UTC", description="Time zone by its name.", examples=["Europe/Lisbon"])
    active: Annotated[bool, Field(description="An inactive person hears nothing and cannot sign in.")] = True
    takes_handle: Annotated[bool, Field(description="Whoever else bears the handle gives it up.")] = False


class PersonChange(In):
    """What is to change of a person; what is left out stays."""

    handle: Text | None = None
    name: Text | None = None
    address: Text | None = None
    address_verified: bool | None = None
    locale: Text | None = None
    zone: Text | None = None
    active: bool | None = None
    takes_handle: bool = False


class TokenIn(In):
    """A token to issue."""

    days: Annotated[int, Field(ge=1, le=MAX_TOKEN_DAYS, description="How long it holds.")] = TOKEN_DAYS
    label: Annotated[Text, Field(max_length=MAX_LABEL_CHARS, description="What it is for.")] = ""


_USUAL = TokenIn()


class TokenOut(Out):
    """A person's token, shown this once."""

    id: Id
    token: str = Field(description="The secret: Authorization: Bearer <token>. It is not kept and not shown again.")
    expires_at: datetime


class RevokedOut(Out):
    """Tokens that count no more."""

    revoked: int


@router.put("/v1/people/{person:key}", response_model=WrittenOut, responses={201: {"model": WrittenOut}})
async def put_person(person: PersonPath, new: PersonIn, door: HostDoor) -> Response:
    """Make sure that there is this person, just so.

    Created, changed or left alone, by your key. A handle names one person at a time.
    """
    return await door.answer(written, add_person, person, **new.model_dump())


@router.patch("/v1/people/{person:key}", response_model=WrittenOut)
async def change_person_in_part(person: PersonPath, change: PersonChange, door: HostDoor) -> Response:
    """Change what is given of a person.

    A new address is unverified unless you say otherwise; an empty one removes it.
    """
    return await door.answer(written, change_person, person, **change.model_dump())


@router.delete("/v1/people/{person:key}", response_model=WrittenOut)
async def forget_a_person(person: PersonPath, door: HostDoor) -> Response:
    """Erase a person.

    Inbox, marks, choices, tokens, address and memberships go; what they wrote stays, without a name. The key
    stays gone.
    """
    return await door.answer(written, forget_person, person)


@router.post("/v1/people/{person:key}/tokens", status_code=201, response_model=TokenOut)
async def issue_a_token(person: PersonPath, door: HostPost, new: TokenIn = _USUAL) -> Response:
    """Issue a token with which a person reads and changes their own inbox.

    Hand it to the person's browser or app. A repeated request with the same Idempotency-Key gets the same token.
    """
    kept = await door.settle(
        _keep_unsaid,
        issue_token,
        person,
        host_secret=door.caller.secret,
        nonce=new_nonce(),
        days=new.days,
        label=new.label,
    )
    return respond(_say(kept, door.caller.secret))


def _keep_unsaid(issued: Issued) -> tuple[int, TokenOut]:
    """Return the answer as it is kept for a repeated request: with the nonce where the token will stand."""
    return 201, TokenOut(id=str(issued.id), token=issued.nonce, expires_at=issued.expires_at)


def _say(kept: Answer, host_secret: str) -> Answer:
    said = TokenOut.model_validate_json(kept.body)
    said.token = make_token(host_secret, said.token)
    return Answer(kept.status, said.model_dump_json(), kept.repeated)


@router.delete("/v1/people/{person:key}/tokens", response_model=RevokedOut)
async def revoke_all_tokens(person: PersonPath, door: HostDoor) -> Response:
    """Let none of a person's tokens count any more."""
    return await door.answer(_revoked, revoke_tokens, person)


@router.delete("/v1/people/{person:key}/tokens/{token}", response_model=RevokedOut)
async def revoke_a_token(person: PersonPath, token: Number, door: HostDoor) -> Response:
    """Let one token count no more."""
    return await door.answer(_revoked, revoke_token, person, int(token))


def _revoked(count: int) -> RevokedOut:
    return RevokedOut(revoked=count)
