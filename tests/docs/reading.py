"""A page of the documentation as a reader has it: its blocks of code, its links, its headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```([a-z]*) *([a-z ]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: its language, whether it is run, and the line that it begins in."""

    language: str
    runs: bool
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The blocks of code of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1], "run" in found[2].split(), found[3], text[: found.start()].count("\n") + 2)
        for found in _FENCE.finditer(text)
    ]


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    """Where the links of a page lead to."""
    return _LINK.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as they stand in a link."""
    return {_anchor(heading) for heading in _HEADING.findall(prose(page))}


def _anchor(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def typed(block: Block) -> Iterator[str]:
    """The commands that a reader of a ```console block types: after `$`, joined where a line goes on."""
    joined = block.text.replace("\\\n", " ")
    for line in joined.splitlines():
        if line.startswith("$ "):
            yield line[2:]
