"""Organisations, teams and spaces, and who is a member of them."""

from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from clarion.api.door import HostDoor
from clarion.api.shapes import (
    Actor,
    ActorQuery,
    ChangedOut,
    HostKey,
    In,
    PersonPath,
    SpacePath,
    Storable,
    Text,
    WrittenOut,
    changed,
    key_of,
    refusals,
    written,
)
from clarion.content import members
from clarion.content.organisations import add_organisation, add_team, delete_team
from clarion.content.spaces import add_space, add_space_team, delete_space, remove_space_team
from clarion.model.errors import Conflict, Gone, NotFound

organisations = APIRouter(tags=["organisations"], responses=refusals(NotFound, Conflict, Gone))
spaces = APIRouter(tags=["spaces"], responses=refusals(NotFound, Gone))

OrganisationPath = Annotated[str, key_of("organisation"), Storable]
TeamPath = Annotated[str, key_of("team"), Storable]


class OrganisationIn(In):
    """An organisation, as it is to be."""

    handle: Text = Field(description="The first half of @org/team.")
    name: Text = ""


class TeamIn(In):
    """A team, as it is to be."""

    organisation: HostKey = Field(description="Your key of the organisation that it is a team of, for good.")
    handle: Text = Field(description="The second half of @org/team.")
    name: Text = ""


class SpaceIn(In):
    """A space, as it is to be."""

    name: Text
    visibility: Literal["public", "private", "members"] = Field(
        description="public: everybody reads it; members: the organisation's, and whom it was opened to; private: "
        "the latter alone."
    )
    organisation: HostKey | None = None
    actor: Actor = None


class MemberIn(In):
    """How somebody is a member of a space."""

    role: Annotated[Text, Field(description="Yours to name.")] = "read"


@organisations.put(
    "/v1/organisations/{organisation:key}", response_model=WrittenOut, responses={201: {"model": WrittenOut}}
)
async def put_organisation(organisation: OrganisationPath, new: OrganisationIn, door: HostDoor) -> Response:
    """Make sure that there is this organisation, just so."""
    return await door.answer(written, add_organisation, organisation, handle=new.handle, name=new.name)


@organisations.put("/v1/organisations/{organisation:key}/members/{person:key}", response_model=ChangedOut)
async def put_organisation_member(organisation: OrganisationPath, person: PersonPath, door: HostDoor) -> Response:
    """Make a person a member of an organisation, with what its members may read."""
    return await door.answer(changed, members.add_organisation_member, organisation, person)


@organisations.delete("/v1/organisations/{organisation:key}/members/{person:key}", response_model=ChangedOut)
async def remove_organisation_member(organisation: OrganisationPath, person: PersonPath, door: HostDoor) -> Response:
    """Take a person out of an organisation and all its teams.

    What they may not read any more leaves their inbox in the same transaction.
    """
    return await door.answer(changed, members.remove_organisation_member, organisation, person)


@organisations.put("/v1/teams/{team:key}", response_model=WrittenOut, responses={201: {"model": WrittenOut}})
async def put_team(team: TeamPath, new: TeamIn, door: HostDoor) -> Response:
    """Make sure that there is this team of an organisation, just so."""
    return await door.answer(written, add_team, team, organisation=new.organisation, handle=new.handle, name=new.name)


@organisations.delete("/v1/teams/{team:key}", response_model=WrittenOut)
async def delete_a_team(team: TeamPath, door: HostDoor, actor: ActorQuery) -> Response:
    """Delete a team, and the access that it gave. Its key stays gone."""
    return await door.answer(written, delete_team, team, actor=actor)


@organisations.put("/v1/teams/{team:key}/members/{person:key}", response_model=ChangedOut)
async def put_team_member(team: TeamPath, person: PersonPath, door: HostDoor) -> Response:
    """Make a person a member of a team, with what its members may read."""
    return await door.answer(changed, members.add_team_member, team, person)


@organisations.delete("/v1/teams/{team:key}/members/{person:key}", response_model=ChangedOut)
async def remove_team_member(team: TeamPath, person: PersonPath, door: HostDoor) -> Response:
    """Take a person out of a team."""
    return await door.answer(changed, members.remove_team_member, team, person)


@spaces.put("/v1/spaces/{space:key}", response_model=WrittenOut, responses={201: {"model": WrittenOut}})
async def put_space(space: SpacePath, new: SpaceIn, door: HostDoor) -> Response:
    """Make sure that there is this space (repository, project, channel), just so.

    Who may not read it any more after a change does not see its threads from that moment on.
    """
    return await door.answer(
        written,
        add_space,
        space,
        name=new.name,
        visibility=new.visibility,
        organisation=new.organisation,
        actor=door.person_if(new.actor),
    )


@spaces.delete("/v1/spaces/{space:key}", response_model=WrittenOut)
async def delete_a_space(space: SpacePath, door: HostDoor, actor: ActorQuery) -> Response:
    """Delete a space with its threads and their posts. Its key stays gone."""
    return await door.answer(written, delete_space, space, actor=actor)


@spaces.put("/v1/spaces/{space:key}/members/{person:key}", response_model=ChangedOut)
async def put_space_member(space: SpacePath, person: PersonPath, new: MemberIn, door: HostDoor) -> Response:
    """Let a person read a space."""
    return await door.answer(changed, members.add_space_member, space, person, role=new.role)


@spaces.delete("/v1/spaces/{space:key}/members/{person:key}", response_model=ChangedOut)
async def remove_space_member(space: SpacePath, person: PersonPath, door: HostDoor) -> Response:
    """Take back what membership gave.

    What the person may not read any more leaves their inbox in the same transaction.
    """
    return await door.answer(changed, members.remove_space_member, space, person)


@spaces.put("/v1/spaces/{space:key}/teams/{team:key}", response_model=WrittenOut)
async def put_space_team(space: SpacePath, team: TeamPath, door: HostDoor, actor: ActorQuery) -> Response:
    """Let the members of a team read a space, now and later."""
    return await door.answer(written, add_space_team, space, team, actor=actor)


@spaces.delete("/v1/spaces/{space:key}/teams/{team:key}", response_model=WrittenOut)
async def remove_a_space_team(space: SpacePath, team: TeamPath, door: HostDoor, actor: ActorQuery) -> Response:
    """Take back what the team's access gave."""
    return await door.answer(written, remove_space_team, space, team, actor=actor)
