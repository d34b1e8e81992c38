"""Databases for tests on the shared embedded server: one a test, made from a template, dropped after it."""

from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
from psycopg.sql import SQL, Identifier

PREFIX = "test_"


def create_database(server_url: str, template: str | None = None) -> str:
    """Creates a database with a name of its own, empty or as a copy of `template`, and returns its URL.

    Nobody may be connected to the template meanwhile.
    """
    name = PREFIX + uuid4().hex
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(
            SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(template or "template0"))
        )
    return urlsplit(server_url)._replace(path=f"/{name}").geturl()


def drop_database(url: str, server_url: str) -> None:
    """Drops the database of `url`, whoever is still connected to it."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(urlsplit(url).path[1:])))


def drop_leftovers(server_url: str) -> None:
    """Drops what killed test runs left behind: test databases that are older than the running server."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        for (name,) in connection.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)"
            " AND (pg_stat_file('base/' || oid || '/PG_VERSION')).modification < pg_postmaster_start_time()",
            [PREFIX],
        ).fetchall():
            connection.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name)))
