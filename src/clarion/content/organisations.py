"""Organisations and their teams: what `@org/team` names.

Kept here: a handle names one organisation, and one team of it; a deleted team's key stays gone (O11).
"""

from clarion.content import limits
from clarion.content.access import publish_access_changed, take_spaces
from clarion.content.outcome import Written
from clarion.model.errors import Conflict, Gone, NotFound
from clarion.model.keys import Key
from clarion.model.text import fold_handle
from clarion.store.database import Command, Row
from clarion.store.queries import ask


def add_organisation(key: str, *, handle: str, name: str = "") -> Command[Written]:
    """Make sure that there is this organisation, just so (O11): created, changed, or left alone.

    Transaction: the caller's. Raises: `Invalid` and `TooLarge` for what is malformed, `Conflict` when another
    organisation bears the handle.
    """
    limits.check_key(key, "organisation")
    limits.check_handle(handle)
    limits.check_name(name)
    fields = {"handle": handle, "handle_folded": fold_handle(handle), "name": name}
    if created := (yield ask("insert_organisation", key=key, **fields)):
        return Written(created[0]["id"], key, created=True, changed=True)
    if (yield ask("find_organisation_holder", key=key, handle_folded=fields["handle_folded"])):
        raise Conflict(f"the handle {handle!r} is another organisation's")
    known = yield from share_organisation(key)
    if (known["handle"], known["name"]) == (handle, name):
        return Written(known["id"], key)
    yield ask("update_organisation", id=known["id"], **fields)
    return Written(known["id"], key, changed=True)


def add_team(key: str, *, organisation: str, handle: str, name: str = "") -> Command[Written]:
    """Make sure that there is this team of an organisation, just so (O11): created, changed, or left alone.

    A team stays in its organisation. Transaction: the caller's. Raises: `Invalid` and `TooLarge` for what is
    malformed, `NotFound` for an unknown organisation, `Conflict` when another team of it bears the handle or
    the key is a team's elsewhere, `Gone` for a deleted team.
    """
    limits.check_key(key, "team")
    limits.check_handle(handle)
    limits.check_name(name)
    within = yield from share_organisation(organisation)
    fields = {"handle": handle, "handle_folded": fold_handle(handle), "name": name}
    if created := (yield ask("insert_team", key=key, organisation=within["id"], **fields)):
        return Written(created[0]["id"], key, created=True, changed=True)
    if (yield ask("find_team_holder", key=key, organisation=within["id"], handle_folded=fields["handle_folded"])):
        raise Conflict(f"the handle {handle!r} is another team's of the organisation {organisation}")
    known = yield from share_team(key)
    if known["organisation"] != within["id"]:
        raise Conflict(f"the team {key} is another organisation's")
    if (known["handle"], known["name"]) == (handle, name):
        return Written(known["id"], key)
    yield ask("update_team", id=known["id"], **fields)
    return Written(known["id"], key, changed=True)


def delete_team(key: str, *, actor: Key | None = None) -> Command[Written]:
    """Delete a team, and the access that it gave (W15): at once for who reads, by an event for rows written.

    Deleting again does nothing. Review requests that it was asked for stay with its people. Transaction: the
    caller's; the team's spaces are locked. Raises: `NotFound`. The result names the first event.
    """
    rows = yield ask("take_team", key=key)
    if not rows:
        raise NotFound(f"no such team: {key}")
    team = rows[0]["id"]
    if rows[0]["gone"]:
        return Written(team, key)
    spaces = [row["space"] for row in (yield ask("spaces_of_team", team=team))]
    yield from take_spaces(spaces)
    yield ask("delete_team", team=team)
    events = yield from publish_access_changed(spaces, actor)
    return Written(team, key, event=next(iter(events), None), changed=True)


def share_organisation(key: str) -> Command[Row]:
    """Return the organisation's row, which stays until the end of the transaction. Raises: `NotFound`."""
    rows = yield ask("share_organisation", key=key)
    if not rows:
        raise NotFound(f"no such organisation: {key}")
    return rows[0]


def share_team(key: str) -> Command[Row]:
    """Return the team's row, which stays until the end of the transaction. Raises: `NotFound`, `Gone`."""
    rows = yield ask("share_team", key=key)
    if not rows:
        raise NotFound(f"no such team: {key}")
    if rows[0]["gone"]:
        raise Gone(f"the team {key} was deleted, and its key stays gone")
    return rows[0]
