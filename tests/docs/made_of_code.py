"""Parts of the reference that are made from the words and the rows: settings, events, reasons, limits, tables."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from clarion.api import credentials, idempotency, middleware
from clarion.api.routes import events as event_routes
from clarion.config import PREFIX, SECRETS, Settings
from clarion.content import limits as content
from clarion.model import event, inbox, text
from clarion.model.reasons import DIRECT, IN_WORDS, Reason
from clarion.model.rules import RULES
from clarion.notifier import handler
from clarion.outbox import checks, cloudevents, operate, publish
from clarion.store.migrate import steps

from .words import TABLES, TYPES, WHO


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell(value) for value in row)} |" for row in rows]
    return "\n".join(lines)


def cell(value: object) -> str:
    """A value as a table's cell holds it."""
    return " ".join(str(value).split()).replace("|", r"\|")


def settings() -> str:
    """Every setting: what it means and takes, and what it is if nobody sets it."""
    rows = []
    for name, known in Settings.model_fields.items():
        meaning, _, default = (known.description or "").partition(" Default: ")
        variable = f"`{PREFIX}{name.upper()}`" + (f" or `{PREFIX}{name.upper()}_FILE`" if name in SECRETS else "")
        rows.append(
            (variable, f"`{name}`", f"{meaning}{_allowed(known.annotation, known.metadata)}", default.rstrip("."))
        )
    return table(("variable", "in TOML", "meaning", "default"), rows)


def _allowed(annotation: Any, metadata: Sequence[Any]) -> str:
    if choices := [choice for choice in get_args(annotation) if isinstance(choice, str)]:
        return f" One of {', '.join(f'`{choice}`' for choice in choices)}."
    bounds = {
        name: bound
        for each in metadata
        for name in ("gt", "ge", "le")
        if (bound := getattr(each, name, None)) is not None
    }
    if not bounds:
        return ""
    least = f"over {bounds['gt']}" if "gt" in bounds else f"from {bounds.get('ge', 0):,}"
    return f" {least[0].upper()}{least[1:]} to {bounds['le']:,}."


def event_types() -> str:
    """Every event type of ours, and what it does."""
    return table(
        ("type", "effect", "what happened"),
        ((f"`{name}`", f"`{effect.value}`", TYPES[name]) for name, effect in event.OWN_TYPES.items()),
    )


def reasons() -> str:
    """The reasons, strongest first."""
    return table(
        ("reason", "in words", "who", "rule", "direct"),
        (
            (f"`{reason}`", IN_WORDS[reason], WHO[reason][1], WHO[reason][0], "yes" if reason in DIRECT else "")
            for reason in Reason
        ),
    )


def rules() -> str:
    """The rules of the judgement, in the order in which `why` tells them."""
    return table(
        ("column", "rule", "holds for who", "stops who", "to change it"),
        ((f"`{rule.column}`", rule.rule, rule.holds, rule.stops, rule.remedy) for rule in RULES),
    )


def limits() -> str:
    """Every limit, with the value that the code has."""
    return table(("what", "at most", "said as"), (_limit(*limit) for limit in _LIMITS))


def _limit(what: str, most: int, unit: str, code: str) -> tuple[str, str, str]:
    return what, f"{most:,} {unit}".strip(), f"`{code}`" if code else "not refused"


_LIMITS: Final[Sequence[tuple[str, int, str, str]]] = (
    ("a text (post, opening text, body of a message)", text.MAX_TEXT_BYTES, "bytes of UTF-8", "too_large"),
    ("a title", content.MAX_TITLE_CHARS, "characters", "too_large"),
    ("a link", content.MAX_LINK_CHARS, "characters", "too_large"),
    ("a name of a person, space, team or organisation", content.MAX_NAME_CHARS, "characters", "too_large"),
    ("a handle, also of a team or organisation", text.MAX_HANDLE_CHARS, "characters", "invalid"),
    ("a mail address", content.MAX_ADDRESS_CHARS, "characters", "too_large"),
    ("a locale", content.MAX_LOCALE_CHARS, "characters", "invalid"),
    ("a member's role", content.MAX_ROLE_CHARS, "characters", "too_large"),
    ("your key of a thread, post, organisation or team", content.MAX_KEY_CHARS, "characters", "too_large"),
    ("`thread`, `post`, `idempotency_key`, `source` of an event", checks.MAX_KEY_CHARS, "characters", "invalid"),
    ("an event type", checks.MAX_TYPE_CHARS, "characters", "invalid"),
    ("the `keys` of an event, as JSON", checks.MAX_KEYS_BYTES, "bytes", "too_large"),
    ("nesting of the `keys` of an event", checks.MAX_KEYS_DEPTH, "levels", "invalid"),
    ("the `kind` of a message", publish.MAX_KIND_CHARS, "characters", "invalid"),
    ("the `idempotency_key` of a message", publish.MAX_MESSAGE_KEY_CHARS, "characters", "invalid"),
    ("people of one message over HTTP", event_routes.MAX_TO, "people", "invalid"),
    ("people, teams or review comments of one command", content.MAX_PEOPLE, "", "too_large"),
    ("mentions of one post that count; beyond, the author is told", text.MAX_MENTIONS, "mentions", ""),
    ("a page of an inbox, and the rows of one mark", inbox.MAX_PAGE, "rows", "too_large"),
    ("unread posts that a row counts; beyond, it means this many or more", inbox.MAX_POSTS_COUNTED, "posts", ""),
    ("a list of the outbox", operate.MAX_LISTED, "events", "too_large"),
    ("the body of a request", middleware.MAX_BODY_BYTES, "bytes", "too_large"),
    ("the body of a CloudEvent", cloudevents.MAX_BODY_BYTES, "bytes", "too_large"),
    ("the header `Idempotency-Key`", idempotency.MAX_KEY_CHARS, "characters", "invalid"),
    ("how long a token may hold", credentials.MAX_TOKEN_DAYS, "days", "invalid"),
    ("the label of a token", credentials.MAX_LABEL_CHARS, "characters", "invalid"),
    ("attempts at an event, before it is set aside (dead letter)", event.MAX_ATTEMPTS, "attempts", ""),
    ("people of one transaction; a larger audience is written in chunks", handler.CHUNK_PEOPLE, "people", ""),
)  # fmt: skip


@dataclass(slots=True)
class _Table:
    comment: str = ""
    columns: dict[str, tuple[str, str]] = field(default_factory=dict)


_CREATE = re.compile(r"^CREATE TABLE clarion\.(\w+) \(\n(.*?)^\)", re.MULTILINE | re.DOTALL)
_COLUMN = re.compile(
    r"^    ([a-z_]+) +((?:clarion\.)?[a-z0-9_]+(?:\[\])?)(?= |,|$)(.*?)(?=^    \w|\Z)", re.MULTILINE | re.DOTALL
)
_TABLE_COMMENT = re.compile(r"^COMMENT ON TABLE clarion\.(\w+) IS '((?:[^']|'')*)';", re.MULTILINE)
_COLUMN_COMMENT = re.compile(r"^COMMENT ON COLUMN clarion\.(\w+)\.(\w+) IS '((?:[^']|'')*)';", re.MULTILINE)


def tables_of(sql: str) -> dict[str, _Table]:
    """The tables that a migration makes, with their columns and comments."""
    found: dict[str, _Table] = {}
    for name, body in _CREATE.findall(sql):
        found[name] = _Table(columns={column: (kind, _null(rest)) for column, kind, rest in _COLUMN.findall(body)})
    for name, said in _TABLE_COMMENT.findall(sql):
        found[name].comment = said.replace("''", "'")
    return found


def _null(rest: str) -> str:
    return "" if re.search(r"NOT NULL|PRIMARY KEY", rest) else "may be null"


def all_tables() -> dict[str, _Table]:
    """The tables of the whole schema."""
    found: dict[str, _Table] = {"schema_version": _Table()}
    for step in steps():
        found |= tables_of(step.sql)
    return found


def tables() -> str:
    """Every table: what a row is, and its columns."""
    notes = {
        (name, column): said.replace("''", "'")
        for step in steps()
        for name, column, said in _COLUMN_COMMENT.findall(step.sql)
    }
    return "\n\n".join(_shown(all_tables(), notes))


def _shown(found: dict[str, _Table], notes: dict[tuple[str, str], str]) -> Iterator[str]:
    for name, each in found.items():
        yield f"### `{name}`\n\n{each.comment or TABLES[name]}"
        if each.columns:
            yield table(
                ("column", "type", "", "note"),
                (
                    (f"`{column}`", f"`{kind}`", null, notes.get((name, column), ""))
                    for column, (kind, null) in each.columns.items()
                ),
            )
