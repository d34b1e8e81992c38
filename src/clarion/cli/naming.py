"""People, spaces and threads as a person types them: by the host's key, or by name."""

from typing import Any

from clarion.engine import Engine
from clarion.inbox.choices import find_thread
from clarion.model.errors import Invalid, NotFound, WrongKey
from clarion.model.inbox import MAX_DIGITS
from clarion.model.keys import BIGINT, Key, KeyType, parse_key
from clarion.model.text import fold_handle
from clarion.store.database import Command, Row
from clarion.store.queries import ask


async def find_person(engine: Engine, name: str) -> Key:
    """Return the person of this key or handle; with `@` before it only a handle is meant. Raises: `NotFound`."""
    _require_text(name)
    handle = name.removeprefix("@")
    key = None if name.startswith("@") else _key(name, engine.settings.person_key)
    rows = await engine.changes.run(_rows("find_person_named", key=key, handle=fold_handle(handle)))
    if not rows:
        raise NotFound(f"there is no person {name!r}: give a handle or a key of your people")
    found: Key = rows[0]["id"]
    return found


async def find_space(engine: Engine, name: str) -> Key:
    """Return the space of this key or name. Raises: `NotFound`."""
    _require_text(name)
    key = _key(name, engine.settings.space_key)
    rows = await engine.changes.run(_rows("find_space_named", key=key, name=name))
    if rows:
        found: Key = rows[0]["id"]
        return found
    if key is None:
        raise NotFound(f"there is no space {name!r}: give its name or its key")
    return key


async def find_threads(engine: Engine, names: list[str]) -> list[int]:
    """Return numbers of threads, each given as such or by the host's key. Raises: `NotFound`."""
    for name in names:
        _require_text(name)
    return [int(name) if _is_number(name) else await engine.changes.run(find_thread(name)) for name in names]


def _require_text(name: str) -> None:
    """Refuse bytes of the command line that are no text. Raises: `Invalid`."""
    if not name.isprintable():
        raise Invalid(f"{name!r} is no name: printable characters only")


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= MAX_DIGITS and int(name) in BIGINT


def _key(name: str, kind: KeyType) -> Key | None:
    try:
        return parse_key(name, kind)
    except WrongKey:
        return None


def _rows(query: str, /, **params: Any) -> Command[list[Row]]:
    return (yield ask(query, **params))
