"""Mentions in Markdown: rules T1 to T4, and the faults of others that they answer."""

# ruff: noqa: RUF001 - tests cite rules by their names; other scripts than Latin are the point

import pytest

from clarion.model.text import Mentions, find_mentions


def named(text: str) -> set[str]:
    """The first candidate of each person named in the text, and each team as `org/team`."""
    found = find_mentions(text)
    return {names[0] for names in found.people} | {"/".join(team) for team in found.teams}


T1_NOBODY = {
    "fenced code": "```\n@sam\n```",
    "fenced code with tildes and a language": "~~~python\n@sam\n~~~",
    "fenced code that is never closed": "```\n@sam",
    "code in a list": "- see\n\n      @sam",
    "indented code": "    @sam",
    "inline code": "run `@sam` now",
    "inline code of two ticks": "run `` a`@sam `` now",
    "inline code over a line's end": "run `x\n@sam` now",
    "a block quote": "> @sam",
    "a nested block quote": "> > @sam",
    "a list in a block quote": "> - one\n>   - @sam",
    "a block quote in a list": "- > @sam",
    "a heading in a block quote": "> # @sam",
    "a quote carried on without its sign": "> quoted\n@sam",
    "link text": "[@sam](https://x.org)",
    "link text with emphasis": "[**see @sam**](https://x.org)",
    "link by reference": "[@sam][1]\n\n[1]: https://x.org",
    "link target": "[here](https://x.org/ '@sam')",
    "reference definition": "[x]: /url '@sam'\n\n[x]",
    "image": "![@sam](face.png)",
    "autolink": "<https://x.org/@sam>",
    "autolink with a query": "<https://x.org/?q=@sam>",
    "autolinked address": "<mail@sam.org>",
    "bare address": "https://x.org/@sam",
    "bare address with a query": "see https://x.org/?to=@sam&x=1",
    "bare address over emphasis": "see https://x.org/?a=*@sam*",
    "bare address without scheme": "www.x.org/?to=@sam",
    "bare address in capitals": "HTTP://X.ORG/?to=@sam",
    "HTML attribute": 'a <b title="@sam">b</b>',
    "HTML element": "a <b>@sam</b>",
    "nested HTML elements": "a <b><i>x</i>@sam</b>",
    "HTML block": "<div>\n@sam\n</div>",
    "HTML comment": "a <!-- @sam --> b",
    "HTML comment over paragraphs": "<!--\n\n@sam\n\n-->",
    "HTML declaration": "<!X @sam>",
    "HTML instruction": "a <?php @sam ?>",
    "HTML CDATA": "a <![CDATA[ @sam ]]>",
    "sign and handle apart by a comment": "@<!-- -->sam",
    "after a letter": "x@sam",
    "after a letter with its mark": "cafe\u0301@sam",
    "after a letter and a joiner": "\u0645\u06cc\u200c@sam",
    "after a Cyrillic letter": "привет@sam",
    "after a Korean letter": "안녕@sam",
    "after a Hindi vowel sign": "की@sam",
    "after a digit": "1@sam",
    "after an underscore": "a_@sam",
    "after a word that ends in emphasis": "a*foo*@sam",
    "after a word in emphasis": "*foo*@sam",
    "after an escaped underscore": r"a\_@sam",
    "after a slash": "a/@sam",
    "after a second sign": "@@sam",
    "after an escaped sign": r"\@@sam",
    "after a sign in emphasis": "*@*@sam",
    "escaped": r"\@sam",
    "escaped after a word": r"write \@sam",
    "written as an entity": "&#64;sam &#x40;sam &commat;sam",
    "an address on another server": "@sam@example.org",
    "an address on another server in emphasis": "**@sam@example.org**",
}


@pytest.mark.parametrize("text", T1_NOBODY.values(), ids=T1_NOBODY.keys())
def test_T1_never_a_mention(text: str) -> None:
    assert find_mentions(text) == Mentions()


@pytest.mark.parametrize("text", ["mail a@sam.com", "a@b.com", "a@b.c and x@sam", "<a@b.com>", "mailto:a@b.com"])
def test_F77_an_address_names_nobody(text: str) -> None:
    assert find_mentions(text) == Mentions()


T2_SAM = {
    "start of text": "@sam",
    "start of line": "hello\n@sam",
    "start of line after a hard break": "hello  \n@sam",
    "start of a heading": "# @sam",
    "underlined heading": "@sam\n====",
    "list": "- @sam",
    "task": "- [ ] @sam",
    "table, which CommonMark has not": "| who |\n|---|\n|@sam|",
    "white space": "ask @sam now",
    "ideographic space": "感謝\u3000@sam",
    "no-break space": "ask\u00a0@sam",
    "brackets": "(@sam) [@sam] {@sam}",
    "quotes": "\"@sam\" '@sam' “@sam” «@sam»",
    "quotes as entities": "&quot;@sam&quot;",
    "signs": ",@sam;@sam!@sam?@sam=@sam+@sam-@sam.@sam:@sam#@sam",
    "dash": "so—@sam—well",
    "ellipsis": "…@sam…",
    "full-width comma": "你好,@sam,好",
    "possessive": "@sam's and @sam’s",
    "colon": "@sam: look",
    "exclamation": "@sam!",
    "slash after": "@sam/",
    "emoji": "🍕@sam🍕",
    "emoji in colour": "❤\ufe0f@sam",
    "emoji with skin": "👍🏽@sam",
    "strong": "**@sam**",
    "emphasis": "_@sam_ and *@sam*",
    "strong emphasis": "***@sam***",
    "strong emphasis within a sentence": "ask __@sam__, please",
    "emphasis that follows": "@sam**x**",
    "stars that are no emphasis": "foo**@sam**",
    "struck out, which CommonMark has not": "~~@sam~~",
    "after code": "`x`@sam",
    "after a link": "[x](/y)@sam",
    "after a tag": "line<br>@sam",
    "after a tag that is never closed": "usage: x <name> @sam",
    "between blocks of HTML": "<details>\n\n@sam\n\n</details>",
    "after a quote": "> quoted\n\n@sam",
    "after code is closed": "```\nx\n```\n@sam",
    "brackets that are no link": "[@sam]",
    "ticks that are no code": "`@sam",
    "tag that is none": "<@sam>",
    "bare address before": "https://x.org/ @sam",
    "escaped brackets": r"\[@sam\]",
    "escaped backslash": r"\\@sam",
    "Han letter": "感謝@sam",
    "iteration mark": "人々@sam",
    "Hiragana letter": "ありがとう@sam",
    "Hiragana letter with its mark apart": "か\u3099@sam",
    "Katakana letter": "サンキュー@sam",
    "narrow Katakana letter": "ｻﾝｷｭｰ@sam",
    "Thai letter with its marks": "ขอบคุณที่@sam",
    "Lao letter": "ຂອບໃຈ@sam",
    "Khmer letter": "អរគុណ@sam",
    "Burmese letter with its marks": "ကျေးဇူး@sam",
}


@pytest.mark.parametrize("text", T2_SAM.values(), ids=T2_SAM.keys())
def test_T2_a_mention(text: str) -> None:
    assert named(text) == {"sam"}
