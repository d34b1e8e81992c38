"""What others see of the events that a host published."""

from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.rows import dict_row

from clarion.outbox.publish import NewEvent

Rows = Callable[..., list[dict[str, Any]]]
"""Reads on a connection of its own: the outbox by default."""

EVENT = NewEvent(type="comment.created", keys={"comment_id": 5}, actor=7, thread="issue:12", post="comment:5", space=3)


def reader(url: str) -> Rows:
    def read(query: str = "SELECT * FROM clarion.outbox_event ORDER BY id") -> list[dict[str, Any]]:
        with psycopg.connect(url, row_factory=dict_row) as connection:
            return connection.execute(query.encode()).fetchall()

    return read
