"""The ground that every case stands on: a fresh server with default durability, and a fresh database a case."""

import fcntl
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg.sql import SQL, Identifier

from bench.watching import WatchedDatabase
from clarion.store.embedded import EmbeddedPostgres
from clarion.store.migrate import migrate

BUILD = Path(__file__).parent.parent / "build"
SETTINGS = {"max_connections": "60"}
"""Nothing that touches speed: default buffers, default durability."""


class Ground:
    """A server of the bench's own, and databases on it that hold the schema."""

    def __init__(self, server: str, version: str) -> None:
        self.server = server
        self.version = version
        self._made = 0

    def make_database(self) -> str:
        """Make a fresh database with Clarion's schema and return its URL."""
        self._made += 1
        name = f"bench_{self._made}"
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        url = urlsplit(self.server)._replace(path=f"/{name}").geturl()
        migrate(url)
        return url

    def drop_database(self, url: str) -> None:
        """Drop a database that `make_database` made, so that the next case has the disk and the caches."""
        name = urlsplit(url).path[1:]
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
            connection.execute("CHECKPOINT")

    @contextmanager
    def url(self) -> Iterator[str]:
        """Lend the URL of a fresh database."""
        url = self.make_database()
        try:
            yield url
        finally:
            self.drop_database(url)

    @asynccontextmanager
    async def database(self) -> AsyncIterator[WatchedDatabase]:
        """Lend a fresh database, opened."""
        with self.url() as url:
            async with WatchedDatabase(url) as database:
                yield database


@contextmanager
def fresh_ground() -> Iterator[Ground]:
    """Start an embedded server on an empty folder; afterwards stop it and remove the folder.

    Raises: `SystemExit` where another bench runs, whose figures would be as worthless as ours.
    """
    BUILD.mkdir(exist_ok=True)
    folder = BUILD / "bench-postgres"
    with (BUILD / "bench.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit("another bench runs in this folder: wait for it") from None
        shutil.rmtree(folder, ignore_errors=True)
        with EmbeddedPostgres(folder, settings=SETTINGS) as server:
            yield Ground(server.start(), server.version)
        shutil.rmtree(folder, ignore_errors=True)


async def run(database: WatchedDatabase, *statements: str) -> None:
    """Run plain statements, each in a transaction of its own."""
    for statement in statements:
        async with database.session() as session:
            await session.connection.execute(statement.encode())


async def tidy(database: WatchedDatabase) -> None:
    """Vacuum, analyse and checkpoint, so that nothing of the seeding is paid for by what is measured."""
    async with await psycopg.AsyncConnection.connect(database.url, autocommit=True) as connection:
        await connection.execute("VACUUM ANALYZE")
        await connection.execute("CHECKPOINT")


async def value(database: WatchedDatabase, statement: str, *params: Any) -> Any:
    """Return the one value that a plain statement answers."""
    async with database.session() as session:
        row = await (await session.connection.execute(statement.encode(), params)).fetchone()
        return None if row is None else next(iter(row.values()))
