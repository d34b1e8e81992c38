"""Mentions in Markdown: what a handle and a team are, and whose candidates a mention has (T3, T4)."""

# ruff: noqa: RUF001 - tests cite rules by their names; other scripts than Latin are the point

import unicodedata

import pytest

from clarion.model.text import MAX_HANDLE_CHARS, MAX_MENTIONS, Mentions, find_mentions, fold_handle, is_handle


def named(text: str) -> set[str]:
    """The first candidate of each person named in the text, and each team as `org/team`."""
    found = find_mentions(text)
    return {names[0] for names in found.people} | {"/".join(team) for team in found.teams}


def meant(text: str, *existing: str) -> set[str]:
    """Whom the text names where only these handles exist."""
    found = (next((name for name in names if name in existing), None) for names in find_mentions(text).people)
    return {name for name in found if name}


@pytest.mark.parametrize("text", ["ask @sam.", "ask @sam...", "@sam...then", "@sam. Then", "@sam-", "@sam_", "@sam._."])
def test_F79_signs_at_the_end_are_not_the_handle_s(text: str) -> None:
    assert meant(text, "sam") == {"sam"}


@pytest.mark.parametrize(
    ("text", "existing", "who"),
    [
        ("@sam.doe.", {"sam", "sam.doe"}, {"sam.doe"}),
        ("@sam.doe.", {"sam"}, {"sam"}),
        ("@sam.doe.", {"doe", "sam.d"}, set()),
        ("@sam:", {"sam"}, {"sam"}),
        ("@user.name. @user:", {"user.name", "user"}, {"user.name", "user"}),
        ("@sam-the-man", {"sam-the", "sam"}, {"sam-the"}),
        ("@sammy", {"sam"}, set()),
    ],
)
def test_F80_T3_the_longest_existing_handle_wins(text: str, existing: set[str], who: set[str]) -> None:
    assert meant(text, *existing) == who


@pytest.mark.parametrize("text", ["@a_b", r"@a\_b", "see @a_b_", "**@a_b**", "@A_b"])
def test_F82_an_underscore_does_not_end_a_handle(text: str) -> None:
    assert find_mentions(text).people == (("a_b", "a"),)


@pytest.mark.parametrize(
    ("text", "who"),
    [("@sam, hi", {"sam"}), ("@sam,@bo", {"sam", "bo"}), ("@sam，hi", {"sam"})],
)
def test_F83_a_comma_follows(text: str, who: set[str]) -> None:
    assert named(text) == who


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("به @می\u200cخواهم", "میخواهم"),
        ("@می\u200c و", "می"),
        ("@Jürgen", "jürgen"),
        ("@ju\u0308rgen", "jürgen"),
        ("@STRASSE", "strasse"),
        ("@straße", "strasse"),
        ("@Ольга", "ольга"),
        ("@山田", "山田"),
        ("@कीर्ति", "कीर्ति"),
        ("@김철수", "김철수"),
        ("@สมชาย", "สมชาย"),
        ("@٣sam", "٣sam"),
    ],
)
def test_F85_T3_handles_in_any_script(text: str, handle: str) -> None:
    assert named(text) == {unicodedata.normalize("NFC", handle)}


@pytest.mark.parametrize(
    "text",
    [
        ":sam:",
        "\uff20sam",
        "\ufe6bsam",
        "@",
        "@ sam",
        "@-sam",
        "@_sam",
        "@.sam",
        "@\u0301sam",
        "@**sam**",
        "@½",
    ],
)
def test_F89_T3_no_other_sign_makes_a_mention(text: str) -> None:
    assert find_mentions(text) == Mentions()


def test_F89_an_emoji_code_may_hold_a_mention() -> None:
    assert named(":@sam:") == {"sam"}


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("@samさん", (("samさん", "sam"),)),
        ("@山田さん、", (("山田さん", "山田"),)),
        ("@sam님", (("sam님", "sam"),)),
        ("@sam2さん", (("sam2さん", "sam2"),)),
        ("@サム太郎", (("サム太郎", "サム"),)),
        ("@サッカー", (("サッカー",),)),
        ("@佐々木", (("佐々木",),)),
        ("@山田@sam", (("山田",), ("sam",))),
        ("@samと@boさん", (("samと", "sam"), ("boさん", "bo"))),
    ],
)
def test_T3_a_handle_may_end_where_the_script_changes(text: str, people: tuple[tuple[str, ...], ...]) -> None:
    assert find_mentions(text).people == people


@pytest.mark.parametrize("text", ["@Sam @sam", "@sam @SAM. (@sam)", "@sam\n\n# @sam", "@ju\u0308 @jü"])
def test_T3_one_person_named_twice_is_one_mention(text: str) -> None:
    assert len(find_mentions(text).people) == 1


def test_T3_mentions_keep_the_order_of_the_text() -> None:
    found = find_mentions("@cy, then @lumen/docs\n\n- @Bo\n- @ada, @lumen/keel and @cy")
    assert found == Mentions((("cy",), ("bo",), ("ada",)), (("lumen", "docs"), ("lumen", "keel")), 0)


@pytest.mark.parametrize(
    ("text", "teams", "people"),
    [
        ("@org/team", (("org", "team"),), ()),
        ("(@Org/Team)", (("org", "team"),), ()),
        ("@org/team.", (("org", "team"),), ()),
        ("@org/team's @org/team: @org/team/", (("org", "team"),), ()),
        ("@org/my-team_2", (("org", "my-team_2"),), ()),
        ("**@org/team**", (("org", "team"),), ()),
        ("@org/team @org", (("org", "team"),), (("org",),)),
        ("@org/team/x", (), ()),
        ("@org/team/x/y @sam", (), (("sam",),)),
        ("@org/@team", (), (("org",),)),
        ("@org/", (), (("org",),)),
        ("@org//team", (), (("org",),)),
        ("x@org/team", (), ()),
        ("`@org/team`", (), ()),
        (r"\@org/team", (), ()),
        ("a/@org/team", (), ()),
    ],
)
def test_T4_teams(text: str, teams: tuple[tuple[str, str], ...], people: tuple[tuple[str, ...], ...]) -> None:
    assert find_mentions(text) == Mentions(people, teams, 0)


def test_T4_beyond_a_hundred_mentions_the_rest_is_counted_only() -> None:
    text = " ".join(f"@p{n} @org/t{n} @P{n}" for n in range(70))
    found = find_mentions(text)
    assert len(found.people) + len(found.teams) == MAX_MENTIONS
    assert found.people[-1] == ("p49",)
    assert found.beyond == 40


def test_T4_a_hundred_mentions_are_not_too_many() -> None:
    found = find_mentions(", ".join(f"@p{n}" for n in range(MAX_MENTIONS)))
    assert (len(found.people), found.beyond) == (MAX_MENTIONS, 0)


@pytest.mark.parametrize(
    "handle", ["sam", "Sam", "s", "a-b", "a.b_c", "a--b", "1", "Jürgen", "u\u0308", "山田", "a" * 100]
)
def test_T3_is_a_handle(handle: str) -> None:
    assert is_handle(handle)
    assert named(f"@{handle}!") == {fold_handle(handle)}


@pytest.mark.parametrize(
    "handle",
    [
        "",
        "-a",
        "a-",
        ".a",
        "a.",
        "_a",
        "a_",
        "a b",
        "a/b",
        "@a",
        "a@b",
        "\u0301a",
        "a\n",
        "a\0",
        "½",
        "🍕",
        "\ud800",
        "a" * 101,
    ],
)
def test_T3_is_no_handle(handle: str) -> None:
    assert not is_handle(handle)


def test_T3_a_longer_word_than_any_handle_names_nobody() -> None:
    assert find_mentions("@" + "a" * (MAX_HANDLE_CHARS + 1)) == Mentions()
    assert meant("@sam." + "a" * MAX_HANDLE_CHARS, "sam") == {"sam"}
