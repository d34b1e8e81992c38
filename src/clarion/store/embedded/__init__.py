"""Embedded servers: the real PostgreSQL, started and stopped by Clarion itself.

Kept here: a server runs exactly as long as some process uses its folder, however that process ends.
`supervisor` and `watchdog` know how to run any server; one small file a kind (`postgres`) knows which.
Importable on every platform; only starting needs Linux.
"""

from clarion.store.embedded.embedded_postgres import EmbeddedPostgres
from clarion.store.embedded.errors import (
    EmbeddedServerError,
    FolderHeldError,
    FolderUnusableError,
    PlatformUnsupportedError,
    ServerFailedError,
)

__all__ = [
    "EmbeddedPostgres",
    "EmbeddedServerError",
    "FolderHeldError",
    "FolderUnusableError",
    "PlatformUnsupportedError",
    "ServerFailedError",
]
