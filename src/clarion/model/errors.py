"""Every error that Clarion raises on purpose descends from `ClarionError`.

Kept here: an error carries a `code` that never changes once released, so that programs, doors and logs
can tell errors apart without reading their sentences.
"""

from typing import ClassVar


class ClarionError(Exception):
    """Something that Clarion refuses or could not do; its message is one sentence for a person.

    Doors translate `code` into a status or an exit code; the class is for `except`, the code for the wire.
    """

    code: ClassVar[str] = "error"


class SettingsError(ClarionError):
    """A setting that is unknown or has a wrong value; the message names it and says what is allowed."""

    code: ClassVar[str] = "settings_invalid"


class WrongKey(ClarionError):
    """A key of a person or space that does not have the host's type."""

    code: ClassVar[str] = "wrong_key"

    def __init__(self, what: str, value: object, key_type: str) -> None:
        super().__init__(
            f"{_shorten(value)} is no {what} key: this schema was made for keys of type {key_type}"
            f" (CLARION_{what.upper()}_KEY)"
        )


class WrongSchema(ClarionError):
    """The schema was made for keys of other types than the settings name."""

    code: ClassVar[str] = "wrong_schema"

    def __init__(self, schema: str, made: tuple[str, str], wanted: tuple[str, str]) -> None:
        super().__init__(
            f"schema {schema} was made for person and space keys of type {made[0]} and {made[1]}, the settings say"
            f" {wanted[0]} and {wanted[1]}: set CLARION_PERSON_KEY and CLARION_SPACE_KEY as it was made, or choose"
            " another CLARION_SCHEMA_NAME"
        )


class NotMigrated(ClarionError):
    """The schema lacks what this version needs."""

    code: ClassVar[str] = "not_migrated"


class WrongDatabase(ClarionError):
    """A database that cannot hold Clarion's tables."""

    code: ClassVar[str] = "wrong_database"

    def __init__(self, encoding: str) -> None:
        super().__init__(
            f"this database stores text as {encoding}, and Clarion needs UTF8:"
            " CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        )


class AutocommitRefused(ClarionError):
    """Publishing on a connection in autocommit: the event would not share the change's transaction (O1)."""

    code: ClassVar[str] = "autocommit_refused"

    def __init__(self) -> None:
        super().__init__(
            "this connection is in autocommit, so the event could outlive a change that fails: publish inside"
            " the transaction that makes the change (for psycopg: `with conn.transaction():`)"
        )


class TooLarge(ClarionError):
    """A payload, text or list over its limit, refused at the door (K2)."""

    code: ClassVar[str] = "too_large"


class Conflict(ClarionError):
    """The same idempotency key came with another content (O11)."""

    code: ClassVar[str] = "conflict"


class Invalid(ClarionError):
    """A value that is not of the form asked for; the message names it and what is allowed."""

    code: ClassVar[str] = "invalid"


class NotFound(ClarionError):
    """Something that is not there, or not for this person to see: the two are told alike."""

    code: ClassVar[str] = "not_found"


class Gone(ClarionError):
    """A key that was deleted stays gone (O11)."""

    code: ClassVar[str] = "gone"


class Refused(ClarionError):
    """Who asks may not do this."""

    code: ClassVar[str] = "refused"


class Unauthorised(ClarionError):
    """No credential, or one that is unknown or expired."""

    code: ClassVar[str] = "unauthorised"


def _shorten(value: object) -> str:
    """Return a value as an error may quote it, however large a stranger made it."""
    if isinstance(value, int) and value.bit_length() > 256:  # noqa: PLR2004 - such numbers may not even be printable
        return "a huge number"
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:80]}…"  # noqa: PLR2004 - a line of a terminal
