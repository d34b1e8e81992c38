"""People: who acts, who is named, who hears.

Kept here: a handle names one person at a time, and its former bearer for 30 days yet (W17); a forgotten
person leaves a placeholder and nothing else (K5).
"""

from typing import Any

from clarion.content import limits
from clarion.content.access import lock_person
from clarion.content.outcome import Saved
from clarion.model.errors import Conflict, Gone, Invalid, NotFound
from clarion.model.keys import Key
from clarion.model.text import fold_handle
from clarion.store.database import Command, Row
from clarion.store.queries import ask


def add_person(
    person: Key,
    *,
    handle: str,
    name: str = "",
    address: str = "",
    address_verified: bool = False,
    locale: str = "en",
    zone: str = "UTC",
    active: bool = True,
    takes_handle: bool = False,
) -> Command[Saved]:
    """Make sure that there is this person, just so (O11): created, changed, or left alone.

    With `takes_handle` whoever else bears the handle gives it up. Transaction: the caller's. Raises: `Invalid`
    and `TooLarge` for what is malformed, `Conflict` when another bears the handle, `Gone` for a forgotten
    person. Cost: two statements when nothing changes.
    """
    given = {
        "handle": handle, "name": name, "address": address, "address_verified": address_verified,
        "locale": locale, "zone": zone, "active": active,
    }  # fmt: skip
    _check(given)
    folded = fold_handle(handle)
    known: list[Row] = yield ask("find_person", person=person)
    if not known:
        yield from _claim_handle(person, handle, takes_handle=takes_handle)
        if (yield ask("insert_person", person=person, handle_folded=folded, **given)):
            return Saved(person, created=True, changed=True)
        known = yield ask("find_person", person=person)
        if not known:
            raise _handle_taken(handle)
    if known[0]["gone"]:
        raise _forgotten(person)
    if not known[0]["nameless"] and given == {name: known[0][name] for name in given}:
        return Saved(person)
    return (yield from _change(person, given, takes_handle=takes_handle))


def change_person(
    person: Key,
    *,
    handle: str | None = None,
    name: str | None = None,
    address: str | None = None,
    address_verified: bool | None = None,
    locale: str | None = None,
    zone: str | None = None,
    active: bool | None = None,
    takes_handle: bool = False,
) -> Command[Saved]:
    """Change what is given of a person, and leave the rest; an empty address removes it.

    A new address is unverified unless `address_verified` says otherwise. An inactive person hears nothing
    new and keeps their inbox. Transaction: the caller's; the person is locked. Raises: as `add_person`, and
    `NotFound`.
    """
    given = {
        "handle": handle, "name": name, "address": address, "address_verified": address_verified,
        "locale": locale, "zone": zone, "active": active,
    }  # fmt: skip
    _check(given)
    return (yield from _change(person, given, takes_handle=takes_handle))


def deactivate_person(person: Key) -> Command[Saved]:
    """Let a person hear nothing new (W8); `change_person(active=True)` ends it. Raises: `NotFound`, `Gone`."""
    return (yield from change_person(person, active=False))


def forget_person(person: Key) -> Command[Saved]:
    """Erase a person: inbox, hits, marks, choices, tokens, address and memberships go, a placeholder stays (K5).

    What they wrote stays, without a name. Forgetting again does nothing; the key stays gone (O11).
    Transaction: the caller's; the person is locked. Raises: `NotFound` for a key that never was.
    """
    yield from lock_person(person)
    forgotten = yield ask("forget_person", person=person)
    if not forgotten and not (yield ask("find_person", person=person)):
        raise _unknown(person)
    return Saved(person, changed=bool(forgotten))


def _change(person: Key, given: dict[str, Any], *, takes_handle: bool) -> Command[Saved]:
    handle = given["handle"]
    if not (yield ask("find_person", person=person)):
        raise _unknown(person)
    if handle is not None:
        yield from _claim_handle(person, handle, takes_handle=takes_handle)
    yield from lock_person(person)
    folded = None if handle is None else fold_handle(handle)
    if not (yield ask("update_person", person=person, handle_folded=folded, **given)):
        raise _forgotten(person)
    return Saved(person, changed=True)


def _claim_handle(person: Key, handle: str, *, takes_handle: bool) -> Command[None]:
    folded = fold_handle(handle)
    if takes_handle:
        yield ask("free_handle", person=person, handle_folded=folded)
    elif (yield ask("find_handle_holder", person=person, handle_folded=folded)):
        raise _handle_taken(handle)


def _check(given: dict[str, Any]) -> None:
    checks = {
        "handle": limits.check_handle, "name": limits.check_name, "address": limits.check_address,
        "locale": limits.check_locale, "zone": limits.check_zone,
    }  # fmt: skip
    for name, check in checks.items():
        if given[name] is not None:
            check(given[name])
    if given["address_verified"] and given["address"] == "":
        raise Invalid("address_verified without an address: there is nothing to verify")


def _handle_taken(handle: str) -> Conflict:
    return Conflict(f"the handle {handle!r} is another person's")


def _unknown(person: Key) -> NotFound:
    return NotFound(f"no such person: {person}")


def _forgotten(person: Key) -> Gone:
    return Gone(f"the person {person} was forgotten, and the key stays gone")
