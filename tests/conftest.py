"""Fixtures that every folder of tests shares."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.databases import create_database, drop_database, drop_leftovers

from clarion.store.embedded import EmbeddedPostgres

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


# Databases that already hold the schema: a template of it a run, a copy a test.
