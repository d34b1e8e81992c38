"""Errors become one sentence and an exit code, in one table."""

import os
from typing import ClassVar, Final

from clarion.model import errors
from clarion.model.errors import ClarionError
from clarion.store.embedded import EmbeddedServerError
from clarion.store.faults import is_disconnect

INTERRUPTED: Final = 130
"""Ctrl-C, as shells count it."""


class DatabaseAway(ClarionError):
    """The database cannot be reached."""

    code: ClassVar[str] = "database_away"


class PortTaken(ClarionError):
    """Another program listens there, or we may not."""

    code: ClassVar[str] = "port_taken"


class NotServing(ClarionError):
    """No Clarion answers there."""

    code: ClassVar[str] = "not_serving"


EXITS: Final[tuple[tuple[type[ClarionError], int], ...]] = (
    (errors.SettingsError, os.EX_CONFIG),
    (errors.WrongSchema, os.EX_CONFIG),
    (errors.NotMigrated, os.EX_CONFIG),
    (errors.WrongDatabase, os.EX_CONFIG),
    (EmbeddedServerError, os.EX_UNAVAILABLE),
    (DatabaseAway, os.EX_UNAVAILABLE),
    (PortTaken, os.EX_UNAVAILABLE),
    (NotServing, os.EX_UNAVAILABLE),
    (errors.NotFound, os.EX_NOINPUT),
    (errors.Gone, os.EX_NOINPUT),
    (errors.Conflict, os.EX_DATAERR),
    (errors.Invalid, os.EX_USAGE),
    (errors.WrongKey, os.EX_USAGE),
    (errors.TooLarge, os.EX_USAGE),
    (errors.Refused, os.EX_NOPERM),
    (errors.Unauthorised, os.EX_NOPERM),
    (ClarionError, 1),
)
"""The first class that fits; the codes are those of sysexits.h."""


def exit_code(error: ClarionError) -> int:
    """Return the exit code of an error."""
    return next(code for kind, code in EXITS if isinstance(error, kind))


def in_words(error: Exception, database: str) -> ClarionError | None:
    """Return an error as one of ours, which a person can act on; none for what only we can mend.

    `database` says where the database is, without its password.
    """
    if isinstance(error, ClarionError):
        return error
    if is_disconnect(error):
        return DatabaseAway(
            f"the database {database} cannot be reached ({first_line(error)}):"
            " start it, or correct CLARION_DATABASE_URL"
        )
    state = getattr(error, "sqlstate", None)
    if state in {"42P01", "3F000", "42883", "42704"}:
        return errors.NotMigrated(
            f"the schema is not as this version needs it ({first_line(error)}): run `clarion migrate`"
        )
    if state == "42501":
        return errors.Refused(f"the database refuses its role something ({first_line(error)}): grant it")
    return None


def first_line(error: Exception) -> str:
    """Return what an error of the database says first; what a host name leads to is told by the last of several."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(":") if lines else type(error).__name__
