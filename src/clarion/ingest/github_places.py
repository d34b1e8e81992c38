"""What a forge's values mean for people, places and rights: applied through the content room.

Kept here: nothing changes, and nobody is locked, where all is so already; what the host chose for itself (an
address, a role, a space kept closer than the forge says) is left alone.
"""

from collections.abc import Generator

from clarion.content import members, organisations, people, spaces
from clarion.ingest import commands as to
from clarion.model.errors import Conflict, NotFound
from clarion.model.text import fold_handle
from clarion.store.database import Command, Row
from clarion.store.queries import Statement, ask

FORMER = "former-"
"""Before the key, the handle of an organisation or team whose own one another has taken since."""

DEFAULT_ROLE = "read"
OWNER_ROLE = "admin"

Events = tuple[int | None, ...]


def ensure_person(value: to.EnsurePerson) -> Command[Events]:
    """Make sure of an account; bots and organisations act, and hear nothing. The latest to claim a handle has it."""
    known = yield ask("find_person", person=value.key)
    if not known:
        yield from people.add_person(
            value.key,
            handle=value.handle,
            name=value.name or "",
            active=value.kind == "person",
            takes_handle=True,
        )
    elif known[0]["nameless"] or (known[0]["handle"], known[0]["name"]) != (
        value.handle,
        value.name or known[0]["name"],
    ):
        yield from people.change_person(value.key, handle=value.handle, name=value.name, takes_handle=True)
    return ()


def ensure_organisation(value: to.EnsureOrganisation) -> Command[Events]:
    """Make sure of an organisation; another one that still has the handle gets a placeholder."""
    key = str(value.key)
    try:
        known = yield from organisations.share_organisation(key)
    except NotFound:
        known = {"handle": None, "name": ""}
    if known["handle"] == value.handle:
        return ()
    try:
        yield from organisations.add_organisation(key, handle=value.handle, name=known["name"])
    except Conflict:
        holders = yield ask("find_organisation_holder", key=key, handle_folded=fold_handle(value.handle))
        for holder in holders:
            yield from organisations.add_organisation(holder["key"], handle=FORMER + holder["key"])
        yield from organisations.add_organisation(key, handle=value.handle, name=known["name"])
    return ()


def ensure_team(value: to.EnsureTeam) -> Command[Events]:
    """Make sure of a team; another one of the organisation that still has the slug gets a placeholder."""
    key, within = str(value.key), str(value.organisation)
    try:
        yield from organisations.add_team(key, organisation=within, handle=value.slug, name=value.name)
    except Conflict:
        organisation = yield from organisations.share_organisation(within)
        holders = yield ask(
            "find_team_holder", key=key, organisation=organisation["id"], handle_folded=fold_handle(value.slug)
        )
        for holder in holders:
            yield from organisations.add_team(holder["key"], organisation=within, handle=FORMER + holder["key"])
        yield from organisations.add_team(key, organisation=within, handle=value.slug, name=value.name)
    return ()


def ensure_space(value: to.EnsureSpace) -> Command[Events]:
    """Make sure of a space: it may turn private by this, and never less private (W15)."""
    organisation = None if value.organisation is None else str(value.organisation)
    visibility: str = value.visibility
    known = yield from _known_space(value.key)
    if known and visibility == "public":
        visibility = known["visibility"]
    if visibility == "members" and organisation is None:
        visibility = "private"
    saved = yield from spaces.add_space(value.key, name=value.name, visibility=visibility, organisation=organisation)
    if saved.changed and value.owner is not None:
        yield from members.add_space_member(value.key, value.owner, role=OWNER_ROLE)
    return (saved.event,)


def set_member(value: to.SetMember) -> Command[Events]:
    """Make somebody a member; a permission that is not told stays as it is."""
    match value.scope:
        case "space":
            role = value.permission or (yield from _role(value.of, value.person))
            yield from members.add_space_member(value.of, value.person, role=role)
        case "organisation":
            yield from members.add_organisation_member(str(value.of), value.person)
        case "team":
            yield from members.add_team_member(str(value.of), value.person)
    return ()


def remove_member(value: to.RemoveMember) -> Command[Events]:
    """Take a membership back (W15)."""
    match value.scope:
        case "space":
            yield from members.remove_space_member(value.of, value.person)
        case "organisation":
            yield from members.remove_organisation_member(str(value.of), value.person)
        case "team":
            yield from members.remove_team_member(str(value.of), value.person)
    return ()


def change_access(value: to.GrantTeam | to.RevokeTeam | to.SetVisibility) -> Command[Events]:
    """Change who may read a space as a whole (W15)."""
    match value:
        case to.GrantTeam():
            saved = yield from spaces.add_space_team(value.space, str(value.team), actor=value.actor)
        case to.RevokeTeam():
            saved = yield from spaces.remove_space_team(value.space, str(value.team), actor=value.actor)
        case _:
            saved = yield from spaces.set_visibility(value.space, value.visibility, actor=value.actor)
    return (saved.event,)


def delete_place(value: to.DeleteTeam | to.DeleteSpace) -> Command[Events]:
    """Delete a team or a space, with what it gave (W15)."""
    match value:
        case to.DeleteTeam():
            return ((yield from organisations.delete_team(str(value.key), actor=value.actor)).event,)
        case to.DeleteSpace():
            return ((yield from spaces.delete_space(value.key, actor=value.actor)).event,)


def _known_space(space: int) -> Generator[Statement, list[Row], Row | None]:
    try:
        return (yield from spaces.share_space(space))
    except NotFound:
        return None


def _role(space: int, person: int) -> Command[str]:
    rows = yield ask("get_space_role", space=space, person=person)
    return rows[0]["role"] if rows else DEFAULT_ROLE
