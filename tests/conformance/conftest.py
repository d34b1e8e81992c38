"""One database a file of tests, emptied before each: what is under test here is the transaction."""

from collections.abc import Iterator

import psycopg
import pytest

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
