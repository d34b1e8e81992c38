"""The host's own keys keep their type (K1)."""

from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.model.errors import WrongKey
from clarion.model.keys import MAX_BIGINT, Key, KeyType, parse_key, parse_keys

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""The first text that is drawn reads the tables of all characters; a machine may be busy."""

FIVE = UUID(int=5)


@pytest.mark.parametrize(
    ("value", "key_type", "key"),
    [
        (7, "bigint", 7),
        ("7", "bigint", 7),
        ("-7", "bigint", -7),
        ("007", "bigint", 7),
        (MAX_BIGINT, "bigint", MAX_BIGINT),
        (str(-MAX_BIGINT), "bigint", -MAX_BIGINT),
        (FIVE, "uuid", FIVE),
        (str(FIVE), "uuid", FIVE),
        (FIVE.hex.upper(), "uuid", FIVE),
        ("ada", "text", "ada"),
        (7, "text", "7"),
        (FIVE, "text", str(FIVE)),
    ],
)
def test_K1_a_key_comes_in_any_form_and_leaves_in_the_hosts_type(value: Key, key_type: KeyType, key: Key) -> None:
    parsed = parse_key(value, key_type)
    assert parsed == key
    assert type(parsed) is type(key)


@pytest.mark.parametrize(
    ("value", "key_type"),
    [
        (MAX_BIGINT + 1, "bigint"),
        (str(MAX_BIGINT + 1), "bigint"),
        ("", "bigint"),
        ("-", "bigint"),
        ("--7", "bigint"),
        ("+7", "bigint"),
        (" 7", "bigint"),
        ("7.0", "bigint"),
        ("1_000", "bigint"),
        ("\N{FULLWIDTH DIGIT SEVEN}", "bigint"),
        (7.0, "bigint"),
        (True, "bigint"),
        (None, "bigint"),
        (FIVE, "bigint"),
        (7, "uuid"),
        ("ada", "uuid"),
        (True, "text"),
        ("", "text"),
        ("a\0", "text"),
        (b"ada", "text"),
    ],
)
def test_K1_what_is_no_key_of_that_type_is_named_with_the_setting(value: object, key_type: KeyType) -> None:
    with pytest.raises(WrongKey) as raised:
        parse_key(value, key_type, "space")
    assert str(raised.value).startswith(f"{value!r} is no space key")
    assert f"keys of type {key_type} (CLARION_SPACE_KEY)" in str(raised.value)


@PATIENT
@given(
    st.integers(-MAX_BIGINT, MAX_BIGINT) | st.uuids() | st.text(st.characters(exclude_characters="\0"), min_size=1),
    st.sampled_from(["bigint", "uuid", "text"]),
)
def test_K1_a_key_that_was_parsed_parses_to_itself_again(value: Key, key_type: KeyType) -> None:
    try:
        key = parse_key(value, key_type)
    except WrongKey:
        return
    assert parse_key(key, key_type) == parse_key(str(key), key_type) == key


def test_K1_keys_are_parsed_in_order_and_each_once() -> None:
    assert parse_keys([8, "7", "8", 7, "08"], "bigint") == [8, 7]
    with pytest.raises(WrongKey):
        parse_keys([8, "ada"], "bigint")
