"""Arrays of plain integers, which most of our parameters are, written as text in one go."""

from typing import Any

from psycopg import AsyncConnection
from psycopg.abc import Buffer
from psycopg.types.array import ListDumper


class IntegersDumper(ListDumper):
    """Dumps a list as psycopg does, one of integers alone some twenty times as fast: it asks no element for quotes."""

    def dump(self, obj: list[object]) -> Buffer | None:
        """Return the array as PostgreSQL reads it."""
        if set(map(type, obj)) == {int}:
            return b"{%s}" % ",".join(map(str, obj)).encode()
        return super().dump(obj)


async def configure(connection: AsyncConnection[Any]) -> None:
    """Have a connection of ours dump lists so."""
    connection.adapters.register_dumper(list, IntegersDumper)
