"""What may be published: form and size of each part, checked before anything is sent.

Kept here: what passes is not refused by the database for its form, so that a wrong call leaves the caller's
transaction as it was. Each check is given the name by which whoever is told knows the part, and returns the
value as it is sent. Raises: `Invalid`, `TooLarge`, `WrongKey`.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple
from uuid import UUID

from clarion.model.errors import Invalid, TooLarge, WrongKey
from clarion.model.keys import MAX_BIGINT, KeyType, parse_key

MAX_KEYS_BYTES = 8192
"""The largest `keys` of an event, as the database writes the JSON (K2)."""

MAX_KEYS_DEPTH = 32
"""How deep lists and objects in `keys` may nest."""

MAX_KEYS_DIGITS = 254
"""How many digits may follow each other in `keys`: in SQL a number may have thousands, which not all can read."""

MAX_TYPE_CHARS = 100
"""The longest event type."""

MAX_KEY_CHARS = 200
"""The longest key of a thread or post, idempotency key, or source."""

_TYPE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_DIGITS = re.compile(f"[0-9]{{{MAX_KEYS_DIGITS + 1}}}")
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Writes as PostgreSQL writes `jsonb`, space for space, so that both count the same bytes."""

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)
_SHOWN_CHARS = 100
_LEAST_FLOAT, _MOST_FLOAT = 1e-4, 1e16


class KeyTypes(NamedTuple):
    """The types of the host's keys (K1), for who knows them: a wrong key is refused before it is sent."""

    person: KeyType
    space: KeyType


def check_type(name: str, value: object) -> str:
    """Return an event type: dotted words of lower-case letters, digits and `_`, at most 100 characters."""
    if isinstance(value, str) and len(value) <= MAX_TYPE_CHARS and _TYPE.fullmatch(value):
        return str.__str__(value)
    raise Invalid(
        f"{name} {_shown(value)} is no event type: write dotted lower-case words like comment.created,"
        f" at most {MAX_TYPE_CHARS} characters"
    )


def check_text(name: str, value: object, most: int, *, least: int = 1) -> str:
    """Return a text of so many characters that PostgreSQL can store: without NUL and lone surrogates."""
    if not isinstance(value, str):
        raise Invalid(f"{name} must be text, not {type(value).__name__}")
    if not least <= len(value) <= most:
        size = f"{least} to {most}" if least else f"at most {most}"
        raise Invalid(f"{name} takes {size} characters, this one has {len(value)}")
    _check_storable(name, value)
    return str.__str__(value)


def check_content(name: str, value: object, most: int, *, unit: Literal["characters", "bytes"] = "characters") -> str:
    """Return a text that people read, of at most so many characters, or bytes of UTF-8."""
    if not isinstance(value, str):
        raise Invalid(f"{name} must be text, not {type(value).__name__}")
    _check_storable(name, value)
    if (size := len(value if unit == "characters" else value.encode())) > most:
        raise TooLarge(f"{name} takes {size} {unit}, at most {most} are allowed")
    return str.__str__(value)


def check_optional(name: str, value: object) -> str | None:
    """Return a key of a thread or post or an idempotency key, or None."""
    return None if value is None else check_text(name, value, MAX_KEY_CHARS)


def check_key(what: str, value: object, key_type: KeyType | None) -> str | None:
    """Return a person's or space's key as text, in the host's type where that is known, or None."""
    match value:
        case None:
            return None
        case str():
            text = check_text(f"the key of a {what}", value, MAX_KEY_CHARS)
            return str(parse_key(text, key_type, what)) if key_type else text
        case UUID() | int() if not isinstance(value, int) or _is_bigint(value):
            return str(parse_key(value, key_type, what)) if key_type else str(value)
        case _:
            raise WrongKey(what, _shown(value), key_type or "bigint, uuid or text")


def check_instant(name: str, value: object) -> datetime | None:
    """Return an instant, which names its zone and lies between the years 1970 and 9999, or None."""
    if value is None:
        return None
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise Invalid(f"{name} must be a datetime with a time zone, like datetime.now(UTC)")
    if not _EARLIEST <= value <= _LATEST:
        raise Invalid(f"{name} must lie between the years 1970 and 9999")
    return value


def check_keys(name: str, value: object) -> str:
    """Return the keys of what changed as JSON.

    Values: text, integers of 64 bits, true, false, null, floats written without an exponent, and lists and
    objects of these, 32 levels deep at most. UUID, Decimal, date and datetime become text, as they print
    (ISO 8601). Anything else is no key: an object of the host's, bytes, a set, NaN.
    """
    if not isinstance(value, Mapping):
        raise Invalid(f"{name} must be an object of names and values, not {type(value).__name__}")
    text = _encode(_plain(name, value, 0))
    if (size := len(text.encode())) > MAX_KEYS_BYTES:
        raise TooLarge(
            f"{name} takes {size} bytes, at most {MAX_KEYS_BYTES} are allowed:"
            " publish the keys of what changed, not its content"
        )
    if _DIGITS.search(text):
        raise Invalid(f"{name} holds more than {MAX_KEYS_DIGITS} digits in a row: no key is that long")
    return text


def _plain(name: str, value: object, depth: int) -> Any:
    if depth > MAX_KEYS_DEPTH:
        raise Invalid(f"{name} is nested more than {MAX_KEYS_DEPTH} levels deep")
    match value:
        case Mapping():
            members = [(_member(name, key), each) for key, each in value.items()]
            return {key: _plain(f"{name}.{key[:40]}", each, depth + 1) for key, each in members}
        case list() | tuple():
            return [_plain(name, each, depth + 1) for each in value]
        case _:
            return _scalar(name, value)


def _scalar(name: str, value: object) -> str | float | bool | None:
    match value:
        case None | bool():
            return value
        case int() | float():
            return _number(name, value)
        case str():
            _check_storable(name, value)
            return value
        case UUID() | Decimal():
            return str(value)
        case date():
            return value.isoformat()
        case _:
            raise Invalid(
                f"{name} holds a {type(value).__name__}: keys are text, numbers, booleans, UUIDs, dates,"
                " and lists and objects of these"
            )


def _number(name: str, value: float) -> float:
    """Return a number that reads back as it was written, in every language, with as many digits as here."""
    if _is_bigint(value):
        return int(value)
    if not isinstance(value, int) and (not value or _LEAST_FLOAT <= abs(value) < _MOST_FLOAT):
        return float(value) or 0.0  # minus zero is zero to PostgreSQL
    raise Invalid(f"{name} holds the number {_shown(value)}, which not every reader can: pass it as text")


def _is_bigint(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_BIGINT


def _member(name: str, key: object) -> str:
    if not isinstance(key, str):
        raise Invalid(f"{name} has a name that is no text: {_shown(key)}")
    _check_storable(name, key)
    return key


def _check_storable(name: str, value: str) -> None:
    if "\0" in value:
        raise Invalid(f"{name} holds a NUL character, which PostgreSQL cannot store")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Invalid(f"{name} holds half a character (a lone surrogate), which is no text") from None


def _shown(value: object) -> str:
    """Return the value for a message, shortened; a huge number is not even written out."""
    if isinstance(value, int) and value.bit_length() > _SHOWN_CHARS:
        return f"of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
