"""The folder of one embedded server: its files, its two locks, and who holds it.

Kept here: `start.lock` is held for the moment of joining, starting included, so that starters queue up;
`server.lock` is inherited by the server and all its children, so that it is free exactly when none is left.
Both are kernel locks: a killed process or a reboot leaves nothing behind to clean up.
"""

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Self

from clarion.store.embedded.account import Account
from clarion.store.embedded.errors import OWN_SERVER, FolderHeldError, FolderUnusableError

LOG_TAIL_BYTES = 2000
"""How much of the server's log an error quotes."""


@dataclass(frozen=True, slots=True)
class ServerFolder:
    """The folder of one server. Others may look into it; what matters in it is closed to them."""

    path: Path
    account: Account

    @classmethod
    def open(cls, path: Path) -> Self:
        """Creates the folder where it is missing and finds the account that its server runs as.

        Raises FolderUnusableError.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            resolved = path.resolve(strict=True)
            return cls(resolved, Account.of(resolved))
        except OSError as error:
            raise _unusable(path, error) from error

    @property
    def data(self) -> Path:
        """Where the server keeps its data."""
        return self.path / "data"

    @property
    def log(self) -> Path:
        """What the server and its watchdog had to say, the last 16 MiB of it at most."""
        return self.path / "server.log"

    @property
    def holder(self) -> Path:
        """Who has used the running server for longest; readable for all, there only while it runs."""
        return self.path / "holder.json"

    @property
    def control(self) -> Path:
        """The socket on which the watchdog counts those who use the server."""
        return self.path / "control.sock"

    @contextmanager
    def short_control(self) -> Iterator[str]:
        """Yields a path to the control socket that is short enough for Linux, however deep the folder."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield f"/proc/self/fd/{descriptor}/{self.control.name}"
        finally:
            os.close(descriptor)

    @contextmanager
    def locked(self, name: str, deadline: float) -> Iterator[int]:
        """Holds the lock file `name`, waiting for it until `deadline` (monotonic), and yields its descriptor.

        A child that inherits the descriptor goes on holding the lock after the block.
        Raises FolderHeldError at the deadline, OSError.
        """
        descriptor = self.open_private(self.path / name, os.O_RDWR)
        try:
            if not _acquire(descriptor, deadline):
                raise self._held() or FolderHeldError(f"{self.path} is being started or stopped elsewhere: retry")
            yield descriptor
        finally:
            os.close(descriptor)

    def open_private(self, path: Path, flags: int) -> int:
        """Opens a file of the folder that nobody but its owner reads, creating it where it is missing."""
        descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self.give_to_owner(path)
        return descriptor

    def give_to_owner(self, path: Path) -> None:
        """As root, leaves a file that we made to the folder's owner, who may come back without us."""
        if os.geteuid() == 0:
            owner = self.path.stat()
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)

    def log_tail(self) -> str:
        """The last lines of the log, for an error to quote."""
        try:
            return self.log.read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace").strip()
        except OSError:
            return ""

    def refused(self, error: OSError) -> FolderHeldError | FolderUnusableError:
        """The error for a file of the folder that we may not use: who holds it, else whose it is."""
        return self._held() or _unusable(self.path, error)

    def _held(self) -> FolderHeldError | None:
        try:
            holder: dict[str, Any] = json.loads(self.holder.read_text())
            pid, command, since = holder["pid"], holder["command"], holder["since"]
        except (OSError, ValueError, LookupError, TypeError):
            return None
        if not Path(f"/proc/{pid}").exists():
            return None
        return FolderHeldError(
            f"{self.path} is held by process {pid} ({command}) since {since} "
            f"and cannot be joined from here: stop it, choose another CLARION_DATA_DIR, or {OWN_SERVER}"
        )


def _acquire(descriptor: int, deadline: float) -> bool:
    """Takes the exclusive lock, waiting in a thread: the kernel's own wait knows no deadline."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        waiter = threading.Thread(target=fcntl.flock, args=(descriptor, fcntl.LOCK_EX), daemon=True)
        waiter.start()
        waiter.join(max(0.0, deadline - monotonic()))
        return not waiter.is_alive()
    return True


def _unusable(path: Path, error: OSError) -> FolderUnusableError:
    return FolderUnusableError(
        f"{error.filename or path} cannot be used ({error.strerror}): "
        f"make it writable for user {os.geteuid()}, choose another CLARION_DATA_DIR, or {OWN_SERVER}"
    )
