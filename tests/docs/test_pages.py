"""Every page holds together: its links lead somewhere, its code is code, what it tells to type is there."""

import ast
import json
import re
import shlex
from pathlib import Path

import pytest

from docs.generate import DOCS, ROOT, pages
from docs.made_of_doors import all_commands, all_routes
from docs.reading import anchors, blocks, links, prose, typed

PAGES = list(pages())
TARGETS = set(re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
NOT_OURS_TO_NAME = re.compile(r"\b(session [0-9a-f]{4,}|/root/|/work/|/home/)")
OTHERS = re.compile(r"\b(Novu|Knock|Courier|OneSignal|MagicBell|Zulip|Twilio|SendGrid|Celery)\b")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@each_page
def test_every_link_leads_to_a_page_and_a_heading_that_are_there(page: Path) -> None:
    for link in links(page):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link


@each_page
def test_every_block_of_code_is_code(page: Path) -> None:
    for block in blocks(page):
        assert block.language, f"line {block.line}: say which language"
        if block.language == "python":
            compile(block.text, f"{page.name}:{block.line}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if block.language == "json":
            json.loads(block.text)


@each_page
def test_what_it_tells_to_type_is_there(page: Path) -> None:
    for block in blocks(page):
        if block.language == "console":
            for line in typed(block):
                _check(line)


@each_page
def test_it_names_no_place_of_ours(page: Path) -> None:
    assert not NOT_OURS_TO_NAME.search(prose(page))


@each_page
def test_other_products_are_named_in_the_comparison_alone(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    before, heading, rest = text.partition("## Compared with")
    assert not OTHERS.search(before + rest.partition("\n## ")[2])
    assert bool(heading) == (page == ROOT / "README.md")


def test_the_readme_names_the_two_commands_that_set_everything_up() -> None:
    first = next(block for block in blocks(ROOT / "README.md"))
    assert list(typed(first)) == ["make run", "make test"]


def test_every_page_is_reached_from_the_index() -> None:
    reached: set[Path] = set()
    ahead = [DOCS / "index.md"]
    while ahead:
        page = ahead.pop()
        if page not in reached:
            reached.add(page)
            found = ((page.parent / link.partition("#")[0]).resolve() for link in links(page) if "://" not in link)
            ahead += [each for each in found if each.suffix == ".md"]
    assert not [page for page in DOCS.rglob("*.md") if page not in reached]


def test_decisions_are_numbered_without_gaps_and_short() -> None:
    pages = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert {"why", "consequences", "when-to-look-again"} <= anchors(page), page.name
        assert len(text.splitlines()) <= 60, page.name


def _check(line: str) -> None:
    words = shlex.split(line, comments=True)
    while words and "=" in words[0]:
        words = words[1:]
    for command in _apart(words):
        match command[0]:
            case "clarion":
                _check_clarion(command)
            case "make":
                assert set(command[1:]) <= TARGETS, line
            case "curl":
                _check_curl(command)
            case _:
                pass


def _apart(words: list[str]) -> list[list[str]]:
    """The commands of a line, apart from each other."""
    found: list[list[str]] = [[]]
    for word in words:
        if word in {"|", "&&", ";", ">"}:
            found.append([])
        else:
            found[-1].append(word)
    return [command for command in found if command]


def _check_clarion(words: list[str]) -> None:
    commands = all_commands()
    name, options = "clarion", set(commands["clarion"].options)
    for word in words[1:]:
        if f"{name} {word}" in commands:
            name = f"{name} {word}"
            options |= commands[name].options
        elif word.startswith("--"):
            assert word.partition("=")[0] in options, " ".join(words)
    assert name != "clarion" or set(words[1:]) <= options, " ".join(words)


def _check_curl(words: list[str]) -> None:
    method = words[words.index("-X") + 1] if "-X" in words else "POST" if {"-d", "--json"} & set(words) else "GET"
    urls = [word for word in words if word.startswith("http://127.0.0.1:8500")]
    if not urls:
        return  # somebody else's
    (url,) = urls
    path = "/" + url.partition("://")[2].partition("/")[2].partition("?")[0]
    known = {
        (each, re.compile(re.sub(r"\\\{[a-z_]+\\\}", "[^/]+", re.escape(form)) + "$")) for each, form, _ in all_routes()
    }
    assert any(each == method and form.match(path) for each, form in known), " ".join(words)
