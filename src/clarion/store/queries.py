"""Named SQL: every statement of Clarion stands in `store/sql/`, is loaded once, and goes by its name.

A file holds queries under `-- name: verb_noun` lines; comments under the name say purpose and guarantee.
`-- include: name` puts another query's text in its place, so that a rule is written once. `-- plan: each time`
says that the plan depends on the parameters: such a query is never prepared.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*-- include: (\w+)$", re.MULTILINE)
_PLAN = "-- plan: each time"
_COMMENT = re.compile(r"^[ \t]*--.*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A named query with its parameters, for a runner to send; the SQL is the runner's to know."""

    name: str
    params: Mapping[str, Any]
    wakes_relays: bool = False
    """Whether relays are told after the commit that an event may be there."""


def ask(name: str, /, **params: Any) -> Statement:
    """Return a statement: what a command yields to be sent the rows."""
    return Statement(name, params)


class Queries:
    """The SQL of every named query, written for one schema."""

    def __init__(self, schema: str = "clarion") -> None:
        loaded = _load()
        self._sql = {name: in_schema(sql, schema) for name, (sql, _) in loaded.items()}
        self.planned_each_time = frozenset(name for name, (_, each_time) in loaded.items() if each_time)

    def __getitem__(self, name: str) -> str:
        return self._sql[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sql)


def in_schema(sql: str, schema: str) -> str:
    """Return the SQL with `clarion.` written as the schema that a tenant has."""
    return sql if schema == "clarion" else re.sub(r"\bclarion\.", f"{schema}.", sql)


@cache
def _load() -> dict[str, tuple[str, bool]]:
    raw: dict[str, str] = {}
    for file in files("clarion.store").joinpath("sql").iterdir():
        if file.name.endswith(".sql"):
            pieces = _NAME.split(file.read_text(encoding="utf-8"))
            for name, sql in zip(pieces[1::2], pieces[2::2], strict=True):
                if name in raw:
                    raise ValueError(f"two queries are named {name}")
                raw[name] = sql
    return {
        name: (_COMMENT.sub("", _expand(sql, raw)).strip().rstrip(";"), _PLAN in sql.splitlines())
        for name, sql in raw.items()
    }


def _expand(sql: str, raw: Mapping[str, str]) -> str:
    return _INCLUDE.sub(lambda match: _expand(raw[match[1]], raw).strip().rstrip(";"), sql)
