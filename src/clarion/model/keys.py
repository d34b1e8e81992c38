"""The host's own keys: people and spaces keep the type that the host gave them (K1)."""

from collections.abc import Iterable
from typing import Literal
from uuid import UUID

from clarion.model.errors import WrongKey

Key = int | str | UUID
KeyType = Literal["bigint", "uuid", "text"]

MAX_BIGINT = 2**63 - 1


def parse_key(value: object, key_type: KeyType, what: str = "person") -> Key:
    """Return the value in the host's type, whether it came as int, str or UUID.

    Raises: `WrongKey`, naming the value and the type that is wanted.
    """
    match key_type, value:
        case _, bool():
            pass
        case "bigint", int() if -MAX_BIGINT <= value <= MAX_BIGINT:
            return value
        case "bigint", str() if value.lstrip("-").isascii() and value.removeprefix("-").isdecimal():
            if abs(number := int(value)) <= MAX_BIGINT:
                return number
        case "uuid", UUID():
            return value
        case "uuid", str():
            try:
                return UUID(value)
            except ValueError:
                pass
        case "text", str() if value and "\0" not in value:
            return value
        case "text", int() | UUID():
            return str(value)
        case _:
            pass
    raise WrongKey(what, value, key_type)


def parse_keys(values: Iterable[object], key_type: KeyType, what: str = "person") -> list[Key]:
    """Return the values in the host's type, each once, in the order given. Raises: as `parse_key`."""
    return list(dict.fromkeys(parse_key(value, key_type, what) for value in values))
