"""Members of spaces, teams and organisations.

Kept here: a membership changes under its person's lock, and what the person may not read any more is hidden,
or what they may again comes back as read, in the same transaction (W15). Nobody else need hear of it.
Removing one who was no member does nothing. Every function returns whether something changed.
"""

from collections.abc import Iterable

from clarion.content import limits
from clarion.content.access import ask_access_again, lock_person, require_people
from clarion.content.organisations import share_organisation, share_team
from clarion.content.spaces import share_space
from clarion.model.keys import Key
from clarion.store.database import Command
from clarion.store.queries import Statement, ask


def add_space_member(space: Key, person: Key, *, role: str = "read") -> Command[bool]:
    """Let a person read a space, in a role that is the host's to name.

    Transaction: the caller's; the person is locked. Raises: `NotFound`, `Gone`, `Invalid`, `TooLarge`.
    """
    limits.check_role(role)
    yield from share_space(space)
    yield from require_people([person])
    return (yield from _change(person, ask("add_space_member", space=space, person=person, role=role), [space]))


def remove_space_member(space: Key, person: Key) -> Command[bool]:
    """Take back what `add_space_member` gave. Transaction: as there. Raises: `NotFound`, `Gone`."""
    yield from share_space(space)
    return (yield from _change(person, ask("remove_space_member", space=space, person=person), [space]))


def add_team_member(team: str, person: Key) -> Command[bool]:
    """Make a person a member of a team, with what its members may read.

    Transaction: the caller's; the person is locked. Raises: `NotFound`, `Gone`.
    """
    team_id = (yield from share_team(team))["id"]
    yield from require_people([person])
    return (yield from _change_team("add_team_member", team_id, person))


def remove_team_member(team: str, person: Key) -> Command[bool]:
    """Take a person out of a team. Transaction: as `add_team_member`. Raises: `NotFound`, `Gone`."""
    team_id = (yield from share_team(team))["id"]
    return (yield from _change_team("remove_team_member", team_id, person))


def add_organisation_member(organisation: str, person: Key) -> Command[bool]:
    """Make a person a member of an organisation, with what its members may read.

    Transaction: the caller's; the person is locked. Raises: `NotFound`.
    """
    organisation_id = (yield from share_organisation(organisation))["id"]
    yield from require_people([person])
    return (yield from _change_organisation("add_organisation_member", organisation_id, person))


def remove_organisation_member(organisation: str, person: Key) -> Command[bool]:
    """Take a person out of an organisation and all its teams.

    Transaction: the caller's; the person is locked. Raises: `NotFound`.
    """
    organisation_id = (yield from share_organisation(organisation))["id"]
    return (yield from _change_organisation("remove_organisation_member", organisation_id, person))


def _change_team(change: str, team: int, person: Key) -> Command[bool]:
    spaces = yield ask("spaces_of_team", team=team)
    return (yield from _change(person, ask(change, team=team, person=person), (row["space"] for row in spaces)))


def _change_organisation(change: str, organisation: int, person: Key) -> Command[bool]:
    spaces = yield ask("spaces_of_organisation", organisation=organisation)
    statement = ask(change, organisation=organisation, person=person)
    return (yield from _change(person, statement, (row["space"] for row in spaces)))


def _change(person: Key, change: Statement, spaces: Iterable[Key]) -> Command[bool]:
    yield from lock_person(person)
    if not (yield change):
        return False
    yield from ask_access_again(person, spaces)
    return True
