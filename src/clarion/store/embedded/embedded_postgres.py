"""The embedded PostgreSQL as programs hold it."""

import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

import psycopg
from psycopg.errors import DuplicateDatabase, UniqueViolation

from clarion.store.embedded.errors import EmbeddedServerError, ServerFailedError
from clarion.store.embedded.wheel import find_wheel

if TYPE_CHECKING:
    from clarion.store.embedded.supervisor import Membership

USER = DATABASE = "clarion"
PORT = 5432
"""Part of the socket's name; no network port is opened."""
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


class EmbeddedPostgres:
    """A PostgreSQL in `folder`, with no set-up: started where none runs, joined where one does.

    It runs as long as any process on any account that may enter uses it, and stops, data kept, when the last
    one has closed it or died. `settings` are PostgreSQL's own (`{"max_connections": "300"}`); they count for
    the process that starts the server. Usable from any thread; a context manager.
    """

    def __init__(self, folder: Path, *, settings: Mapping[str, str] = NO_SETTINGS) -> None:
        self._folder = folder
        self._settings = settings
        self._lock = threading.Lock()
        self._membership: Membership | None = None
        self._version = ""

    def start(self) -> str:
        """Returns the URL of the database `clarion`, when it takes connections; once open, the same again.

        Raises PlatformUnsupportedError, FolderUnusableError, FolderHeldError, ServerFailedError. Takes about
        1 s for a new folder, 0.1 s for an old one, some milliseconds to join; at most 120 s.
        """
        find_wheel()
        from clarion.store.embedded.postgres import PostgresKind  # noqa: PLC0415 - these import on Linux only
        from clarion.store.embedded.supervisor import join  # noqa: PLC0415

        with self._lock:
            if self._membership is None:
                membership = join(self._folder, PostgresKind(self._settings))
                try:
                    self._version = _ensure_database(_url(membership.run, "postgres"))
                except psycopg.Error as error:
                    membership.leave()
                    raise ServerFailedError(f"the embedded PostgreSQL does not answer: {error}") from error
                except BaseException:
                    membership.leave()
                    raise
                self._membership = membership
            return _url(self._membership.run, DATABASE)

    @property
    def attached(self) -> bool:
        """True where `start` joined a server that ran already. Raises EmbeddedServerError before `start`."""
        return self._open().attached

    @property
    def version(self) -> str:
        """The server's version, as in "18.6". Raises EmbeddedServerError before `start`."""
        self._open()
        return self._version

    def close(self) -> None:
        """Leaves the server; where nobody else uses it, returns when it has stopped. Harmless when repeated.

        Raises ServerFailedError where it does not stop within a minute.
        """
        with self._lock:
            membership, self._membership = self._membership, None
            if membership is not None:
                membership.leave()

    def _open(self) -> "Membership":
        if self._membership is None:
            raise EmbeddedServerError("the embedded PostgreSQL is not started")
        return self._membership

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _url(run: Path, database: str) -> str:
    return f"postgresql://{USER}@/{database}?host={quote(str(run), safe='')}&port={PORT}"


def _ensure_database(url: str) -> str:
    """Creates the database where it is missing, outside any transaction; returns the server's version."""
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            with suppress(DuplicateDatabase, UniqueViolation):  # another process was faster
                connection.execute(f"CREATE DATABASE {DATABASE}")
        return connection.info.parameter_status("server_version") or ""
