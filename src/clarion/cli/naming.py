"""People, spaces and threads as a person types them: by the host's key, or by name."""

from typing import Any

from clarion.engine import Engine
from clarion.inbox.choices import find_thread
from clarion.model.errors import NotFound, WrongKey
from clarion.model.keys import Key, KeyType, parse_key
from clarion.model.text import fold_handle
from clarion.store.database import Command, Row
from clarion.store.queries import ask


async def find_person(engine: Engine, name: str) -> Key:
    """Return the person of this key or handle; with `@` before it only a handle is meant. Raises: `NotFound`."""
    handle = name.removeprefix("@")
    key = None if name.startswith("@") else _key(name, engine.settings.person_key)
    rows = await engine.changes.run(_rows("find_person_named", key=key, handle=fold_handle(handle)))
    if not rows:
        raise NotFound(f"there is no person {name!r}: give a handle or a key of your people")
    found: Key = rows[0]["id"]
    return found


async def find_space(engine: Engine, name: str) -> Key:
    """Return the space of this key or name. Raises: `NotFound`."""
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
    return [
        int(name) if name.isascii() and name.isdecimal() else await engine.changes.run(find_thread(name))
        for name in names
    ]


def _key(name: str, kind: KeyType) -> Key | None:
    try:
        return parse_key(name, kind)
    except WrongKey:
        return None


def _rows(query: str, /, **params: Any) -> Command[list[Row]]:
    return (yield ask(query, **params))
