"""One database a file of tests, emptied before each: what is under test here is the transaction."""

from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest

from conformance.committed import Rows, reader
from conformance.hosts import API, SQL, Host
from support.databases import create_database, drop_database


@pytest.fixture(scope="module")
def module_database_url(server_url: str, template: str) -> Iterator[str]:
    """The URL of a database that the tests of this file share."""
    url = create_database(server_url, template)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE change (note text)")
    yield url
    drop_database(url, server_url)


@pytest.fixture
def database_url(module_database_url: str) -> str:
    """The URL of a database that holds the schema and a host's own table, `change`, and no rows."""
    with psycopg.connect(module_database_url) as connection:
        for table in ("clarion.outbox_event", "clarion.content_post", "clarion.content_thread", "change"):
            connection.execute(f"DELETE FROM {table}")
    return module_database_url


@pytest.fixture
def rows(database_url: str) -> Rows:
    """Reads on a connection of its own: what others see."""
    return reader(database_url)


@pytest.fixture(params=API | SQL)
async def host(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Host]:
    """A host of every kind in a transaction."""
    async with (API | SQL)[request.param](database_url) as host:
        yield host


@pytest.fixture(params=[*API, "SQL function"])
async def function_host(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Host]:
    """A host of every kind that calls the function, by our API or by itself."""
    async with (API | SQL)[request.param](database_url) as host:
        yield host


@pytest.fixture(params=API)
async def api_host(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Host]:
    """A host of every kind that our Python API takes."""
    async with API[request.param](database_url) as host:
        yield host
