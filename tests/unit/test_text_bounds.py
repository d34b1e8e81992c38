"""Mentions in any text at all: nothing raises, everything is bounded, and folding is stable."""

import sys
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarion.model.text import (
    MAX_CANDIDATES,
    MAX_MENTIONS,
    MAX_TEXT_BYTES,
    Mentions,
    find_mentions,
    fold_handle,
)

# fmt: off
PIECES = st.sampled_from([
    "@", "@sam", "@org/team", "@a.b-c_d", "x", " ", "\n", "\n\n", "> ", "- ", "    ", "`", "```\n", "*", "**",
    "_", "[", "](", "](/u)", ")", "!", "<", ">", "<b>", "</b>", "<!--", "-->", "\\", "&#64;", "&", "/", "://",
    "www.", ".", "'", "感", "さ", "\u0301", "\u200c", "\0", "\ud800", "\r", "\t", "#", "|", ":", "]: ", "é",
])
# fmt: on
TEXTS = st.lists(PIECES | st.text(st.characters(), max_size=8), max_size=60).map("".join)


def assert_bounded(found: Mentions) -> None:
    assert len(found.people) + len(found.teams) <= MAX_MENTIONS
    assert found.beyond >= 0
    for names in found.people:
        assert 1 <= len(names) <= MAX_CANDIDATES
        assert len(set(names)) == len(names)
        assert all(name == fold_handle(name) and name for name in names)
    for team in found.teams:
        assert all(name == fold_handle(name) and name for name in team)
    assert len(set(found.people)) == len(found.people)
    assert len(set(found.teams)) == len(found.teams)


@given(TEXTS)
@settings(max_examples=500, deadline=None)
def test_T1_any_text_is_read_without_a_fault(text: str) -> None:
    found = find_mentions(text)
    assert_bounded(found)
    assert find_mentions(text) == found


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_T1_fenced_text_names_nobody(text: str) -> None:
    assert find_mentions("~~~~~~~~~~\n" + text.replace("~", "") + "\n~~~~~~~~~~") == Mentions()


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_T1_what_is_named_is_written_after_a_sign(text: str) -> None:
    found = find_mentions(text)
    assert len(found.people) + len(found.teams) + found.beyond <= text.count("@")


def test_T3_folding_is_stable_for_every_character() -> None:
    for code in range(sys.maxunicode + 1):
        folded = fold_handle(chr(code))
        if folded != chr(code):
            assert fold_handle(folded) == folded
            assert unicodedata.is_normalized("NFC", folded)


@given(st.text(st.characters(), max_size=12))
def test_T3_folding_is_stable_and_blind_to_case_and_form(handle: str) -> None:
    folded = fold_handle(handle)
    assert fold_handle(folded) == folded
    assert unicodedata.is_normalized("NFC", folded)
    assert fold_handle(unicodedata.normalize("NFD", handle)) == folded
    assert fold_handle(handle.casefold()) == folded


# fmt: off
HOSTILE = [
    "@", "@a", "@a ", "@a.", "a.", "a-", "@a/", "@a@", "@\u0301", "\u0301\u0323", "\u200c", "@<b>", "<b>",
    "</b>", "<b>x", "[", "![", "[a](", "[]", "*", "**a ", "*_", "_a*b", "`", "`a``", "<", "<!--", '<a href="',
    "&#64;", "\\@", "a\n@", "> ", "- ", "1. ", "\n", "    ", "[a]: /u\n", "http://", "www.", "https://x ",
    "@サa", "感@", "山サ",
]
# fmt: on


@pytest.mark.parametrize("piece", HOSTILE)
def test_K2_a_hostile_text_costs_little(piece: str) -> None:
    text = "@" + piece * (MAX_TEXT_BYTES // len(piece.encode()))
    started = time.process_time()
    assert_bounded(find_mentions(text))
    assert time.process_time() - started < 10  # most take 0.1 s: only what grows with the square fails


def test_K2_of_many_candidates_the_whole_and_the_shortest_stay() -> None:
    (names,) = find_mentions("@" + "a." * 20 + "a").people
    assert len(names) == MAX_CANDIDATES
    assert names[0] == "a." * 20 + "a"
    assert names[-2:] == ("a.a", "a")


def test_K2_what_is_longer_than_any_text_is_not_read() -> None:
    assert find_mentions("@sam " + "é" * MAX_TEXT_BYTES + " @bo").people == (("sam",),)
    assert find_mentions("é" * (MAX_TEXT_BYTES // 2 - 2) + " @bo").people == (("bo",),)  # exactly the limit
