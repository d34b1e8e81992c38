"""What the database refuses by a rule of ours, as an error of ours, whatever the driver."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from clarion.model.errors import ClarionError, Conflict, Invalid, TooLarge, WrongKey


@contextmanager
def refusals_as_ours() -> Iterator[None]:
    """Turn the database's refusals into errors of ours, raised from the original; let all others pass.

    The refusals: the SQLSTATEs of our functions (migration 0003), a row that the outbox's own checks refuse,
    and a text that is no value of the type which a parameter has.
    """
    try:
        yield
    except Exception as error:
        if refusal := _refusal(error):
            raise refusal from error
        raise


def _refusal(error: BaseException) -> ClarionError | None:
    inner = _innermost(error)
    # psycopg and psycopg2 tell of the server's fields in `diag`, asyncpg on the error, under other names.
    fields: Any = getattr(inner, "diag", inner)
    message = str(getattr(fields, "message_primary", None) or getattr(fields, "message", None))
    match getattr(fields, "sqlstate", None):
        case "CL001":
            return TooLarge(message)
        case "CL002":
            return Conflict(message)
        case "CL003" | "22P02" | "22003":
            return Invalid(message)
        case "CL004":
            key = getattr(fields, "message_detail", None) or getattr(fields, "detail", None)
            key_type = getattr(fields, "datatype_name", None) or getattr(fields, "data_type_name", None)
            return WrongKey(str(fields.column_name), key or "", str(key_type))
        case "23514" if fields.table_name == "outbox_event":
            return Invalid(message)
        case _:
            return None


def _innermost(error: BaseException) -> BaseException:
    """Return the driver's own error: SQLAlchemy wraps it, and what it builds around asyncpg wraps it again."""
    inner = getattr(error, "orig", None) or error
    return inner if hasattr(inner, "diag") else inner.__cause__ or inner
