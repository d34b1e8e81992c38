"""`python -m tests.docs.generate`, or `make docs`: writes the parts of the reference that are made from the code.

A page marks such a part by `<!-- generated: NAME -->` and `<!-- end of generated -->`; all else is written by hand.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from . import made_of_code, made_of_doors

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"

SECTIONS: Final[Mapping[str, Callable[[], str]]] = {
    "settings": made_of_code.settings,
    "event types": made_of_code.event_types,
    "reasons": made_of_code.reasons,
    "rules": made_of_code.rules,
    "limits": made_of_code.limits,
    "tables": made_of_code.tables,
    "errors": made_of_doors.errors,
    "routes": made_of_doors.routes,
    "commands": made_of_doors.commands,
    "metrics": made_of_doors.metrics,
}

_PART = re.compile(
    r"(?P<begin><!-- generated: (?P<name>[a-z ]+) -->\n)(?P<text>.*?)(?P<end><!-- end of generated -->)", re.DOTALL
)


def pages() -> Iterator[Path]:
    """All pages of the documentation, those at the top of the repository first."""
    yield from sorted(ROOT.glob("*.md"))
    yield from sorted(DOCS.rglob("*.md"))


def renewed(text: str) -> str:
    """A page's text with every generated part as the code has it now."""
    return _PART.sub(lambda part: f"{part['begin']}{SECTIONS[part['name']]()}\n{part['end']}", text)


def parts(text: str) -> list[str]:
    """The names of the generated parts of a page."""
    return [part["name"] for part in _PART.finditer(text)]


def main() -> None:
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = renewed(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"written: {page.relative_to(ROOT)}", file=sys.stderr)  # noqa: T201 - a command


if __name__ == "__main__":
    main()
