"""Fixtures that every folder of tests shares."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from clarion.store.database import Database
from clarion.store.embedded import EmbeddedPostgres
from clarion.store.migrate import migrate
from support.databases import create_database, drop_database, drop_leftovers

BUILD = Path(__file__).parent.parent / "build"


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The URL of one embedded PostgreSQL for all workers of a run: the first starts it, the others attach."""
    settings = {"fsync": "off", "max_connections": "300"}
    with EmbeddedPostgres(BUILD / f"test-postgres-{os.geteuid()}", settings=settings) as server:
        url = server.start()
        if not server.attached:
            drop_leftovers(url)
        yield url


@pytest.fixture
def empty_database(server_url: str) -> Iterator[str]:
    """The URL of an empty database of the test's own."""
    url = create_database(server_url)
    yield url
    drop_database(url, server_url)


@pytest.fixture(scope="session")
def template(server_url: str) -> Iterator[str]:
    """The name of a database that holds the schema, to make copies of."""
    url = create_database(server_url)
    migrate(url)
    yield urlsplit(url).path[1:]
    drop_database(url, server_url)


@pytest.fixture
def database_url(server_url: str, template: str) -> Iterator[str]:
    """The URL of a database of the test's own that holds the schema."""
    url = create_database(server_url, template)
    yield url
    drop_database(url, server_url)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """An open `Database` over a schema of the test's own."""
    async with Database(database_url) as database:
        yield database
