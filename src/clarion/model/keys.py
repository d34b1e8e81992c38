"""The host's own keys: people and spaces keep the type that the host gave them (K1)."""

import re
from collections.abc import Iterable
from typing import Literal
from uuid import UUID

from clarion.model.errors import WrongKey

Key = int | str | UUID
KeyType = Literal["bigint", "uuid", "text"]

MAX_BIGINT = 2**63 - 1
BIGINT = range(-MAX_BIGINT - 1, MAX_BIGINT + 1)
MAX_KEY_CHARS = 200
"""The longest key of type text."""

_DECIMAL = re.compile(r"-?[0-9]{1,19}")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""What PostgreSQL takes in no text: NUL, and halves of surrogate pairs."""


def parse_key(value: object, key_type: KeyType, what: str = "person") -> Key:
    """Return the value in the host's type, whether it came as int, str or UUID.

    Raises: `WrongKey`, naming the value and the type that is wanted.
    """
    match key_type, value:
        case _, bool():
            pass
        case "bigint", int() if value in BIGINT:
            return value
        case "bigint", str() if _DECIMAL.fullmatch(value) and int(value) in BIGINT:
            return int(value)
        case "uuid", UUID():
            return value
        case "uuid", str():
            try:
                return UUID(value)
            except ValueError:
                pass
        case "text", str() if 0 < len(value) <= MAX_KEY_CHARS and not _UNSTORABLE.search(value):
            return value
        case "text", int() if value in BIGINT:
            return str(value)
        case "text", UUID():
            return str(value)
        case _:
            pass
    raise WrongKey(what, value, key_type)


def parse_keys(values: Iterable[object], key_type: KeyType, what: str = "person") -> list[Key]:
    """Return the values in the host's type, each once, in the order given. Raises: as `parse_key`."""
    return list(dict.fromkeys(parse_key(value, key_type, what) for value in values))
