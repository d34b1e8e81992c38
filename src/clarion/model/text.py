r"""Whom a text names: mentions in Markdown, by the rules T1 to T4.

A text is parsed once, by a CommonMark parser, and the mentions are looked for in what a reader sees as
prose: never in code, quotes, links, addresses or HTML. Nothing here knows which handles exist. A mention
is therefore a short list of *candidates*, longest first, and the longest that exists is the one meant.

Nothing here raises on any text, and the work is bounded by the size of the text (`MAX_TEXT_BYTES`).

Where the rules leave room, this is what holds:

- `\@sam` and `&#64;sam` name nobody: whoever writes them wants the sign itself. Any other escaped sign is
  the sign: `@sam\_doe` is sam_doe.
- Emphasis is no text: `_@sam_` stands at the start of a text, `*foo*@sam` after a word, and `@sam**x**` is
  sam. Where CommonMark sees no emphasis the stars are punctuation, so `foo**@sam**` is sam.
- Code, links, images and tags stand between words like punctuation. What a tag and its closing tag
  enclose in one paragraph is HTML (`<b>@sam</b>`); paragraphs between blocks of HTML are prose again.
- A line that carries a quote on without its `>` is still quoted, as CommonMark has it.
- A bare address (`https://…`, `www.…`) goes on to the next white space.
- `@sam@example.org` is an address elsewhere, and nobody here. `@sam/` is sam; `@org/team/x` is a path.
- A handle may end where the script changes: `@samさん` is samさん if there is such a person, else sam.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

MAX_TEXT_BYTES: Final = 65536
"""The longest text, in bytes of UTF-8. Doors refuse a longer one; of such a one the rest is not read here."""

MAX_MENTIONS: Final = 100
"""How many distinct mentions of one text count."""

MAX_HANDLE_CHARS: Final = 100
"""The longest handle, and the longest name of a team."""

MAX_CANDIDATES: Final = 8
"""How many handles one mention may stand for."""

_EDGE: Final = "\0"
"""Where emphasis begins or ends: ends a handle, and is no text. The parser leaves no NUL in a text."""

_OPAQUE: Final = " "
"""Stands for code, a link, an image, a tag or the end of a line."""

_JOINERS: Final = "\u200c\u200d"
"""They shape the letters around them, and tell no two names apart."""

_INNER: Final = "-_." + _JOINERS
_CASED_OR_OTHER: Final = frozenset({"Lu", "Ll", "Lt", "Lo"})
_WIDTHS: Final = frozenset({"FULLWIDTH", "HALFWIDTH"})
_SPACELESS: Final = (
    frozenset({"CJK", "IDEOGRAPHIC", "HIRAGANA", "HENTAIGANA", "KATAKANA", "KATAKANA-HIRAGANA"})
    | {"KHMER", "LAO", "MYANMAR", "THAI"}
)  # fmt: skip
_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
_URL: Final = re.compile(r"(?<![A-Za-z0-9+.-])(?:[A-Za-z][A-Za-z0-9+.-]{1,31}://|[Ww]{3}\.)[^\s<>]*")

_MARKDOWN: Final = MarkdownIt("commonmark").disable("text_join")  # so that escapes stay tokens of their own


@dataclass(frozen=True, slots=True)
class Mentions:
    """Whom a text names, each once, in the order of the text; see `find_mentions`."""

    people: tuple[tuple[str, ...], ...] = ()
    """For each mention its candidates, folded, longest first: the longest that exists is the one named."""
    teams: tuple[tuple[str, str], ...] = ()
    """Each team's organisation and name, folded."""
    beyond: int = 0
    """How many distinct mentions beyond `MAX_MENTIONS` were left out."""


def find_mentions(text: str) -> Mentions:
    """Finds the people and teams that a Markdown text names (T1 to T4).

    Never raises. At most `MAX_MENTIONS` are returned, each with at most `MAX_CANDIDATES` candidates.
    """
    if "@" not in text:
        return Mentions()
    found: dict[tuple[bool, tuple[str, ...]], None] = {}
    for prose in _prose(_MARKDOWN.parse(_within_limit(text))):
        found.update(dict.fromkeys(_named_in(prose)))
    kept = list(islice(found, MAX_MENTIONS))
    return Mentions(
        people=tuple(names for is_team, names in kept if not is_team),
        teams=tuple((names[0], names[1]) for is_team, names in kept if is_team),
        beyond=len(found) - len(kept),
    )


def fold_handle(handle: str) -> str:
    """Gives the form in which handles are compared and stored: NFC and case-folded (T3).

    Folding twice is folding once. Joiners between letters are dropped, so that no two handles look the same
    by them.
    """
    bare = handle.translate(dict.fromkeys(map(ord, _JOINERS)))
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFD", bare).casefold())
    return folded if folded == handle else fold_handle(folded)


def is_handle(handle: str) -> bool:
    """Tells whether a text can be a handle, or the name of a team.

    Letters of any script with their marks, digits, and `-`, `_` and `.` between them; at most
    `MAX_HANDLE_CHARS` characters.
    """
    return 0 < len(handle) <= MAX_HANDLE_CHARS and _read_name(handle, 0) == len(handle)


def _within_limit(text: str) -> str:
    """Cuts a text that no door would have let in."""
    return text[:MAX_TEXT_BYTES].encode("utf-8", "surrogatepass")[:MAX_TEXT_BYTES].decode("utf-8", "replace")


def _prose(tokens: Sequence[Token]) -> Iterator[str]:
    """Gives the prose of each paragraph and heading that is not quoted."""
    quotes = 0
    for token in tokens:
        if token.type == "blockquote_open":
            quotes += 1
        elif token.type == "blockquote_close":
            quotes -= 1
        elif token.type == "inline" and not quotes and "@" in token.content:
            yield _URL.sub(_OPAQUE, "".join(_visible(token.children or [])))


def _visible(tokens: Sequence[Token]) -> Iterator[str]:
    """Gives the text of a paragraph as it can name somebody, piece by piece."""
    hidden = _enclosed_by_tags(tokens)
    links = 0
    for index, token in enumerate(tokens):
        if token.type in {"link_open", "link_close"}:
            links += token.nesting
            yield _OPAQUE
        elif links or hidden[index]:
            continue
        elif token.type == "text_special" and token.content == "@":
            yield "@" + _EDGE
        elif token.type in {"text", "text_special"}:
            yield token.content
        elif token.nesting:
            yield _EDGE
        else:
            yield _OPAQUE


def _enclosed_by_tags(tokens: Sequence[Token]) -> list[bool]:
    """Tells for each token whether it stands between a tag and its closing tag."""
    depth = [0] * (len(tokens) + 1)
    still_open: dict[str, list[int]] = {}
    for index, token in enumerate(tokens):
        tag = _TAG.match(token.content) if token.type == "html_inline" else None
        if tag is None:
            continue
        starts = still_open.setdefault(tag[2].lower(), [])
        if not tag[1]:
            starts.append(index)
        elif starts:
            depth[starts.pop() + 1] += 1
            depth[index] -= 1
    enclosed, level = [], 0
    for change in depth[: len(tokens)]:
        level += change
        enclosed.append(level > 0)
    return enclosed


def _named_in(prose: str) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Gives each mention in a prose: whether of a team, and its candidates or the team's two names."""
    end = 0
    while (sign := prose.find("@", end)) >= 0:
        start = sign + 1
        end = _read_name(prose, start)
        if end == start or not _may_begin(prose, sign):
            continue
        name, follower, next_end = prose[start:end], prose[end : end + 1], _read_name(prose, end + 1)
        has_next = next_end > end + 1
        if follower == "/" and has_next:
            team, end = prose[end + 1 : next_end], next_end
            is_path = prose[end : end + 1] == "/" and _read_name(prose, end + 1) > end + 1
            if not is_path and is_handle(name) and is_handle(team):
                yield True, (fold_handle(name), fold_handle(team))
        elif follower == "@" and has_next and not _may_begin(prose, end):
            continue
        elif names := _candidates(name):
            yield False, names


def _may_begin(prose: str, sign: int) -> bool:
    """Tells whether the `@` at an index stands where a mention can begin."""
    before = sign - 1
    while before >= 0 and (prose[before] in _EDGE + _JOINERS or _kind(prose[before]) == "M"):
        before -= 1
    if before < 0:
        return True
    char = prose[before]
    if _kind(char) in "LN":
        return _script(char) in _SPACELESS
    return char not in "/@_"


def _read_name(text: str, start: int) -> int:
    """Gives the index after the longest name at an index, or the index itself where none begins."""
    end = at = start
    while at < len(text):
        category = unicodedata.category(text[at])
        is_mark = category[0] == "M" and at == end > start
        if category[0] == "L" or category == "Nd" or is_mark:
            end = at + 1
        elif end == start or text[at] not in _INNER:
            break
        at += 1
    return end


def _candidates(name: str) -> tuple[str, ...]:
    """Gives the handles that a written name may stand for, longest first.

    It may end before an inner sign and where the script changes. Of too many the whole and the shortest stay.
    """
    cuts: list[int] = []
    script = ""
    for index, char in enumerate(name[: MAX_HANDLE_CHARS + 1]):
        if char in "-_.":
            cuts.append(index)
            script = ""
        elif unicodedata.category(char) in _CASED_OR_OTHER:
            previous, script = script, _script(char)
            if previous not in {"", script}:
                cuts.append(index)
    ends = [cut for cut in cuts if is_handle(name[:cut])][: MAX_CANDIDATES - 1]
    handles = [name[:end] for end in reversed(ends)]
    if is_handle(name):
        handles.insert(0, name)
    return tuple(dict.fromkeys(map(fold_handle, handles)))


def _kind(char: str) -> str:
    """Gives the first letter of a character's category: L letter, M mark, N number, and so on."""
    return unicodedata.category(char)[0]


def _script(char: str) -> str:
    """Gives a letter's script: the first word of its Unicode name that is not about its width."""
    words = unicodedata.name(char, "").split()
    return next((word for word in words if word not in _WIDTHS), "")
