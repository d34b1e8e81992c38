"""How publishing looks to a type checker: this file is checked, not run (`unused-awaitable` is on)."""

from collections.abc import Awaitable
from typing import Any, assert_type

import psycopg
from psycopg.rows import DictRow
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session
from sqlalchemy.orm import Session, scoped_session

from clarion.outbox.publish import NewEvent, notify, publish, publish_many
from clarion.store.connect import run
from clarion.store.queries import Queries

QUERIES = Queries()
EVENT = NewEvent(type="comment.created")


def sync_returns_the_result(
    plain: psycopg.Connection[DictRow],
    connection: Connection,
    session: Session,
    scoped: scoped_session[Session],
) -> None:
    assert_type(run(plain, QUERIES, publish(EVENT)), int)
    assert_type(run(connection, QUERIES, publish(EVENT)), int)
    assert_type(run(session, QUERIES, publish_many([EVENT])), list[int])
    assert_type(run(scoped, QUERIES, notify([7], title="Ready")), int)


async def async_returns_an_awaitable(
    plain: psycopg.AsyncConnection[Any],
    connection: AsyncConnection,
    session: AsyncSession,
    scoped: async_scoped_session[AsyncSession],
) -> None:
    waits: Awaitable[int] = run(plain, QUERIES, publish(EVENT))
    assert_type(await waits, int)
    assert_type(await run(connection, QUERIES, publish(EVENT)), int)
    assert_type(await run(session, QUERIES, publish_many([EVENT])), list[int])
    assert_type(await run(scoped, QUERIES, notify([7], title="Ready")), int)
    run(plain, QUERIES, publish(EVENT))  # type: ignore[unused-awaitable]
    run(session, QUERIES, publish(EVENT))  # type: ignore[unused-awaitable]


def what_is_no_connection_is_an_error(url: str, cursor: psycopg.Cursor[DictRow]) -> None:
    run(url, QUERIES, publish(EVENT))  # type: ignore[call-overload]
    run(cursor, QUERIES, publish(EVENT))  # type: ignore[call-overload]
