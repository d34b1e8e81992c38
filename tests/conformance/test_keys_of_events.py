"""What `keys` may hold: what passes the check is stored as it was meant, with the size that was counted (O2, K2)."""

from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from clarion.model.errors import Invalid, TooLarge, WrongKey
from clarion.outbox.checks import MAX_KEYS_BYTES, check_key, check_keys

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""The first text that is drawn reads the tables of all characters; a machine may be busy."""

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.uuids()
    | st.decimals()
    | st.dates()
    | st.datetimes()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def connection(module_database_url: str) -> Any:
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        yield connection


@PATIENT
@given(keys=st.dictionaries(st.text(), VALUES, max_size=3))
@example(keys={"x": -0.0})
@example(keys={"x": 1e-4, "y": 9.9e15})
@example(keys={"x": -(2**63), "y": 2**63 - 1})
@example(keys={'"\\\b\f\n\r\t\x01\x7f\u2028': "\ufffe🎉"})
def test_what_passes_is_stored_with_the_size_that_was_counted(keys: dict[str, Any], connection: Any) -> None:
    try:
        text = check_keys("keys", keys)
    except (Invalid, TooLarge):
        return
    [(stored, size)] = connection.execute("SELECT j, octet_length(j::text) FROM (SELECT %s::jsonb AS j) AS k", [text])
    assert stored.keys() == keys.keys()
    assert size == len(text.encode()) <= MAX_KEYS_BYTES


def test_what_is_no_json_is_text_as_it_prints() -> None:
    class Colour(StrEnum):
        RED = "red"

    uuid = UUID(int=5)
    keys = {
        "uuid": uuid,
        "decimal": Decimal("1.10"),
        "date": date(2026, 1, 2),
        "datetime": datetime(2026, 1, 2, 3, tzinfo=UTC),
        "enum": Colour.RED,
        "tuple": (1, 2),
    }
    assert check_keys("keys", keys) == (
        '{"uuid": "00000000-0000-0000-0000-000000000005", "decimal": "1.10", "date": "2026-01-02",'
        ' "datetime": "2026-01-02T03:00:00+00:00", "enum": "red", "tuple": [1, 2]}'
    )


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ([], "keys must be an object"),
        ({1: 2}, "keys has a name that is no text: 1"),
        ({"a": {"b": {3}}}, "keys.a.b holds a set"),
        ({"a": b"x"}, "keys.a holds a bytes"),
        ({"a": 2**63}, "keys.a holds the number 9223372036854775808"),
        ({"a": 10**5000}, "keys.a holds the number of 16610 bits"),
        ({"a": float("nan")}, "keys.a holds the number nan"),
        ({"a": 1e16}, r"keys.a holds the number 1e\+16"),
        ({"a": "7" * 255}, "keys holds more than 254 digits in a row"),
        ({"a": "\0"}, "keys.a holds a NUL"),
        ({"a\0": 1}, "keys holds a NUL"),
        ({"a": ["\udc80"]}, "keys.a holds half a character"),
    ],
)
def test_what_is_no_key_is_named(keys: Any, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        check_keys("keys", keys)


def test_keys_nest_32_levels_here_and_in_the_database(connection: Any) -> None:
    def nested(levels: int) -> Any:
        return {"a": nested(levels - 1)} if levels else 1

    query = "SELECT clarion.publish('a.b', %s::text::jsonb)"
    connection.execute(query, [check_keys("keys", nested(32))])
    with pytest.raises(Invalid, match="nested more than 32 levels"):
        check_keys("keys", nested(33))
    with pytest.raises(psycopg.Error, match="nested at most 32 levels"):
        connection.execute(query, ['{"a":' * 33 + "1" + "}" * 33])
    around: dict[str, Any] = {}
    around["around"] = around
    with pytest.raises(Invalid, match="nested"):
        check_keys("keys", around)


@pytest.mark.parametrize(("key_type", "read"), [("bigint", int), ("uuid", UUID), ("text", str), (None, str)])
@PATIENT
@given(key=st.integers() | st.text() | st.uuids() | st.floats() | st.booleans() | st.binary())
def test_K1_a_key_is_refused_or_sent_as_text(key: object, key_type: Any, read: Any) -> None:
    try:
        text = check_key("person", key, key_type)
    except (Invalid, WrongKey):
        return
    assert read(text) == read(str(key))


def test_K1_the_database_knows_the_same_keys(connection: Any) -> None:
    query = "SELECT clarion.is_key(%s, %s)"
    for key, key_type, is_one in (
        ("7", "bigint", True),
        ("-7", "bigint", True),
        ("9223372036854775807", "bigint", True),
        ("9223372036854775808", "bigint", False),
        ("-9223372036854775808", "bigint", True),
        ("7.0", "bigint", False),
        (" 7", "bigint", False),
        ("\N{FULLWIDTH DIGIT SEVEN}", "bigint", False),
        ("", "bigint", False),
        ("9" * 200, "bigint", False),
        (str(UUID(int=5)), "uuid", True),
        (UUID(int=5).hex, "uuid", True),
        ("5", "uuid", False),
        ("", "text", False),
        ("x" * 200, "text", True),
        ("x" * 201, "text", False),
    ):
        assert connection.execute(query, [key, key_type]).fetchone() == (is_one,), (key, key_type)
