"""Our SQL names its parameters as psycopg does; some drivers count them."""

import re
from collections.abc import Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"%(?:%|\((\w+)\)s)")


def positional(sql: str, params: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL with `$1`, `$2`, … for `%(name)s` and `%` for `%%`, and the parameters in that order."""
    names: dict[str, int] = {}

    def place(match: re.Match[str]) -> str:
        return f"${names.setdefault(match[1], len(names) + 1)}" if match[1] else "%"

    return _PLACEHOLDER.sub(place, sql), tuple(params[name] for name in names)
