"""Spaces: what can be watched, and read or not.

Kept here: what changes who may read a space as a whole is done alone with it and told by one event (W15).
"""

from clarion.content import limits
from clarion.content.access import publish_access_changed, take_spaces
from clarion.content.organisations import share_organisation, share_team
from clarion.content.outcome import Saved
from clarion.model.errors import Gone, Invalid, NotFound
from clarion.model.keys import Key
from clarion.outbox.publish import NewEvent, publish_many
from clarion.store.database import Command, Row
from clarion.store.queries import ask

VISIBILITIES = ("public", "private", "members")
"""`public`: everybody; `members`: the organisation's, and whom it was opened to; `private`: the latter alone."""


def add_space(
    space: Key, *, name: str, visibility: str, organisation: str | None = None, actor: Key | None = None
) -> Command[Saved]:
    """Make sure that there is this space, just so (O11): created, changed, or left alone.

    Transaction: the caller's. Raises: `Invalid` and `TooLarge` for what is malformed, `NotFound` for an unknown
    organisation, `Gone` for a deleted space.
    """
    _check(name, visibility, organisation)
    within = None if organisation is None else (yield from share_organisation(organisation))["id"]
    if (yield ask("insert_space", space=space, name=name, visibility=visibility, organisation=within)):
        return Saved(space, created=True, changed=True)
    known = yield from share_space(space)
    if (known["name"], known["visibility"], known["organisation"]) == (name, visibility, organisation):
        return Saved(space)
    before = yield from _lock(space)
    return (yield from _change(before, name, visibility, organisation, actor))


def rename_space(space: Key, name: str, *, actor: Key | None = None) -> Command[Saved]:
    """Give a space another name (W17). Transaction: the caller's. Raises: `Invalid`, `TooLarge`, `NotFound`, `Gone`."""
    before = yield from _lock(space)
    return (yield from _change(before, name, before["visibility"], before["organisation"], actor))


def set_visibility(space: Key, visibility: str, *, actor: Key | None = None) -> Command[Saved]:
    """Make a space `public`, `private` or `members` (W15): at once for who reads, by an event for rows written.

    Transaction: the caller's; the space is locked, and fan-outs under way are waited for. Raises: `Invalid`,
    `NotFound`, `Gone`.
    """
    before = yield from _lock(space)
    return (yield from _change(before, before["name"], visibility, before["organisation"], actor))


def move_space(space: Key, organisation: str | None, *, actor: Key | None = None) -> Command[Saved]:
    """Put a space into another organisation, or into none (W15). Transaction and errors: as `set_visibility`."""
    before = yield from _lock(space)
    return (yield from _change(before, before["name"], before["visibility"], organisation, actor))


def add_space_team(space: Key, team: str, *, actor: Key | None = None) -> Command[Saved]:
    """Let the members of a team read a space, now and later (W15).

    Transaction: the caller's; the space is locked. Raises: `NotFound`, `Gone`.
    """
    return (yield from _change_team("add_space_team", space, team, actor))


def remove_space_team(space: Key, team: str, *, actor: Key | None = None) -> Command[Saved]:
    """Take back what `add_space_team` gave (W15). Transaction and errors: as there."""
    return (yield from _change_team("remove_space_team", space, team, actor))


def delete_space(space: Key, *, actor: Key | None = None) -> Command[Saved]:
    """Delete a space with its threads and their posts: nobody reads it from now on, and the key stays gone.

    Each thread has an event that takes its notifications along. Deleting again does nothing. Transaction: the
    caller's; the space is locked. Raises: `NotFound`. Cost: a constant number of statements.
    """
    rows = yield ask("take_content_space", space=space)
    if _existing(rows, space)["gone"]:
        return Saved(space)
    yield from take_spaces([space])
    threads = yield ask("delete_space", space=space)
    yield from publish_many(
        [NewEvent(type="thread.deleted", thread=row["key"], space=space, actor=actor) for row in threads]
    )
    events = yield from publish_access_changed([space], actor)
    return Saved(space, event=events[0], changed=True)


def share_space(space: Key) -> Command[Row]:
    """Return the space's row, which stays until the end of the transaction. Raises: `NotFound`, `Gone`."""
    return _living((yield ask("share_content_space", space=space)), space)


def _lock(space: Key) -> Command[Row]:
    return _living((yield ask("lock_content_space", space=space)), space)


def _change(before: Row, name: str, visibility: str, organisation: str | None, actor: Key | None) -> Command[Saved]:
    _check(name, visibility, organisation)
    space = before["id"]
    changes_access = (before["visibility"], before["organisation"]) != (visibility, organisation)
    if not changes_access and before["name"] == name:
        return Saved(space)
    within = None if organisation is None else (yield from share_organisation(organisation))["id"]
    if changes_access:
        yield from take_spaces([space])
    yield ask("update_space", space=space, name=name, visibility=visibility, organisation=within)
    events = (yield from publish_access_changed([space], actor)) if changes_access else []
    return Saved(space, event=next(iter(events), None), changed=True)


def _change_team(change: str, space: Key, team: str, actor: Key | None) -> Command[Saved]:
    team_id = (yield from share_team(team))["id"]
    yield from share_space(space)
    yield from take_spaces([space])
    if not (yield ask(change, space=space, team=team_id)):
        return Saved(space)
    events = yield from publish_access_changed([space], actor)
    return Saved(space, event=events[0], changed=True)


def _check(name: str, visibility: str, organisation: str | None) -> None:
    limits.check_space_name(name)
    limits.check_choice(visibility, VISIBILITIES, "visibility")
    if visibility == "members" and organisation is None:
        raise Invalid("a space of visibility members needs an organisation, whose members they are")


def _existing(rows: list[Row], space: Key) -> Row:
    if not rows:
        raise NotFound(f"no such space: {space}")
    return rows[0]


def _living(rows: list[Row], space: Key) -> Row:
    if _existing(rows, space)["gone"]:
        raise Gone(f"the space {space} was deleted, and its key stays gone")
    return rows[0]
