"""What is particular to one kind of connection, and what is no connection of ours (O1)."""

import json
import subprocess
import sys
from contextlib import closing
from sqlite3 import connect as connect_sqlite
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest
from psycopg.rows import namedtuple_row, scalar_row
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import create_engine, make_url
from sqlalchemy.ext.asyncio import AsyncSession, async_scoped_session, async_sessionmaker, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from clarion.model.errors import AutocommitRefused, Invalid
from clarion.outbox.publish import NewEvent, publish
from clarion.store.connect import Pending, run, runner_for
from clarion.store.database import Command
from clarion.store.queries import Queries, ask
from conformance.hosts import API, QUERIES

EVENT = NewEvent(type="comment.created", keys={"comment_id": 5})

ODD = Queries()
ODD._sql |= {
    "write_odd": "INSERT INTO change VALUES (%(a)s::text || '100%%' || (%(b)s::text[])[1] || %(a)s::text)",
    "read_odd": "SELECT note, '%%' AS percent, 1::bigint AS n, ':x' AS x, (ARRAY[1, 2])[1:2] AS some FROM change",
}
"""SQL with whatever a driver could mistake for its own."""


def _odd(*, read: bool = False) -> Command[list[Any]]:
    return (yield ask("read_odd") if read else ask("write_odd", a=":a", b=["$1\\", None]))


def count(url: str) -> int:
    """How many events others see."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM clarion.outbox_event").fetchone()
    return int(row[0]) if row else 0


@pytest.mark.parametrize("row_factory", [namedtuple_row, scalar_row])
@pytest.mark.parametrize("cursor_factory", [psycopg.ClientCursor, psycopg.RawCursor, psycopg.ServerCursor])
def test_psycopg_with_rows_and_cursors_of_the_callers_own_style(
    row_factory: Any, cursor_factory: Any, database_url: str
) -> None:
    with psycopg.connect(database_url, row_factory=row_factory) as connection:
        connection.cursor_factory = cursor_factory
        assert run(connection, QUERIES, publish(EVENT)) > 0
    assert count(database_url) == 1


def test_psycopg_in_autocommit_is_fine_inside_a_transaction_block(database_url: str) -> None:
    with closing(psycopg.connect(database_url, autocommit=True)) as connection:
        with connection.transaction():
            run(connection, QUERIES, publish(EVENT))
            with pytest.raises(ZeroDivisionError), connection.transaction():
                _publish_and_fail(connection)
        with pytest.raises(AutocommitRefused):
            run(connection, QUERIES, publish(EVENT))
    assert count(database_url) == 1


def _publish_and_fail(connection: psycopg.Connection[Any]) -> None:
    run(connection, QUERIES, publish(EVENT))
    raise ZeroDivisionError


@pytest.mark.parametrize("autocommit", [False, True])
def test_psycopg_in_pipeline_mode(autocommit: bool, database_url: str) -> None:
    with closing(psycopg.connect(database_url, autocommit=autocommit)) as connection:
        with connection.pipeline(), connection.transaction():
            connection.execute("INSERT INTO change VALUES ('made')")
            run(connection, QUERIES, publish(EVENT))
            assert run(connection, ODD, _odd()) == []
        assert count(database_url) == 1


def test_psycopg_in_pipeline_mode_tells_the_callers_own_errors_as_such(database_url: str) -> None:
    with closing(psycopg.connect(database_url)) as connection, connection.pipeline():
        connection.execute("SELECT 'x'::bigint")
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            run(connection, QUERIES, publish(EVENT))


async def test_psycopg_async_in_pipeline_mode(database_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        async with connection.pipeline(), connection.transaction():
            await connection.execute("INSERT INTO change VALUES ('made')")
            await run(connection, QUERIES, publish(EVENT))
        async with connection.pipeline():
            with pytest.raises(AutocommitRefused):
                await run(connection, QUERIES, publish(EVENT))
    assert count(database_url) == 1


def test_sqlalchemy_with_options_of_the_callers_own(database_url: str) -> None:
    engine = create_engine(make_url(database_url).set(drivername="postgresql+psycopg2"))
    with engine.connect() as connection:
        connection.execution_options(stream_results=True, no_parameters=True, yield_per=1)
        run(connection, QUERIES, publish(EVENT))
        connection.commit()
    with (
        engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
        pytest.raises(AutocommitRefused),
    ):
        run(connection, QUERIES, publish(EVENT))
    engine.dispose()
    assert count(database_url) == 1


async def test_sqlalchemy_scoped_sessions(database_url: str) -> None:
    url = make_url(database_url).set(drivername="postgresql+psycopg")
    engine = create_engine(url)
    scoped = scoped_session(sessionmaker(engine))
    run(scoped, QUERIES, publish(EVENT))
    scoped.commit()
    scoped.remove()
    engine.dispose()

    async_engine = create_async_engine(url)
    async_scoped = async_scoped_session(async_sessionmaker(async_engine), scopefunc=lambda: 1)
    await run(async_scoped, QUERIES, publish(EVENT))
    await async_scoped.commit()
    await async_scoped.remove()
    await async_engine.dispose()
    assert count(database_url) == 2


async def test_sqlalchemy_sessions_that_begin_by_themselves_or_not(database_url: str) -> None:
    url = make_url(database_url).set(drivername="postgresql+psycopg")
    async_engine = create_async_engine(url)
    async with AsyncSession(async_engine) as async_session, async_session.begin():
        await run(async_session, QUERIES, publish(EVENT))
        assert async_session.in_transaction()
    await async_engine.dispose()
    assert count(database_url) == 1

    engine = create_engine(url)
    with Session(engine, autobegin=False) as session, pytest.raises(Exception, match="Autobegin is disabled"):
        run(session, QUERIES, publish(EVENT))
    engine.dispose()


async def test_asyncpg_from_a_pool_with_codecs_of_the_callers_own(database_url: str) -> None:
    async def prepare(connection: Any) -> None:
        await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)

    async with asyncpg.create_pool(database_url, min_size=1, max_size=1, init=prepare) as pool:
        async with pool.acquire() as connection, connection.transaction():
            await run(connection, QUERIES, publish(EVENT))
        assert await pool.fetchval("SELECT keys FROM clarion.outbox_event") == {"comment_id": 5}


@pytest.mark.parametrize("kind", API)
async def test_every_kind_sends_our_sql_as_it_is_meant(kind: str, database_url: str) -> None:
    async with API[kind](database_url) as host:
        result = run(host.connection, ODD, _odd())
        rows = await result if isinstance(result, Pending) else result
        assert rows == []
        await host.execute("INSERT INTO change VALUES ('kept')")
        result = run(host.connection, ODD, _odd(read=True))
        rows = await result if isinstance(result, Pending) else result
    notes = [":a100%$1\\:a", "kept"]
    assert rows == [{"note": note, "percent": "%", "n": 1, "x": ":x", "some": [1, 2]} for note in notes]


async def test_what_is_no_connection_of_ours_is_refused_with_what_is(database_url: str) -> None:
    engine = create_engine("sqlite://")
    with closing(psycopg.connect(database_url)) as connection, closing(connect_sqlite(":memory:")) as sqlite:
        for wrong, hint in (
            (database_url, "connect first"),
            (connection.cursor(), "pass the connection of the cursor"),
            (engine, "a connection of the engine"),
            (AsyncConnectionPool(open=False), "a connection of the pool"),
            (sessionmaker(engine), "a session that it makes"),
            (sqlite, "accepted are a psycopg Connection"),
            (None, "accepted are a psycopg Connection"),
        ):
            with pytest.raises(Invalid, match=hint):
                runner_for(wrong, QUERIES)
        with engine.connect() as lite, pytest.raises(Invalid, match=r"sqlite.* Clarion needs PostgreSQL"):
            run(lite, QUERIES, publish(EVENT))
    engine.dispose()


async def test_a_publish_that_is_not_awaited_warns_with_the_events_name(database_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        with pytest.warns(RuntimeWarning, match=r"publish\('comment.created'\) was never awaited"):
            run(connection, QUERIES, publish(EVENT), "publish('comment.created')")  # type: ignore[unused-awaitable]
        pending = run(connection, QUERIES, publish(EVENT))
        await pending
        with pytest.raises(RuntimeError, match="was awaited before"):
            await pending
    assert count(database_url) == 1


def test_libraries_that_the_host_does_not_use_are_not_loaded(database_url: str) -> None:
    program = """
import sys, psycopg
from clarion.outbox.publish import NewEvent, publish
from clarion.store.connect import run
from clarion.store.queries import Queries
with psycopg.connect(sys.argv[1]) as connection:
    run(connection, Queries(), publish(NewEvent(type="a.b")))
print([name for name in ("sqlalchemy", "asyncpg", "psycopg2") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program, database_url], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert count(database_url) == 1
