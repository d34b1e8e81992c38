"""Joins the server of a folder, starting it where none runs. Knows no kind of server.

Kept here: one server a folder, whoever asks and however many at once. A server belongs to no process: its
watchdog keeps it while anybody uses it, so the one who started it may die without taking it along.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

from clarion.store.embedded.errors import ServerFailedError
from clarion.store.embedded.folder import ServerFolder
from clarion.store.embedded.run_folder import make_run_folder

START_SECONDS = 120.0
"""How long joining may take, recovery after a crash and the end of a stopping server included."""
LEAVE_SECONDS = 60.0
"""How long leaving waits for the server's end: more than all steps of `Launch.stop` together."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to run one server; all a watchdog needs to know of its kind."""

    argv: list[str]
    cwd: str
    env: dict[str, str]
    ready: str
    """What the server writes to its output when it takes connections."""
    stop: list[tuple[int, float]]
    """Signals to stop it and the seconds each is given, gentlest first; the first also follows our death."""


class ServerKind(Protocol):
    """One kind of server. A new kind is a small file with one class like this."""

    @property
    def name(self) -> str:
        """What people call it."""

    def prepare(self, folder: ServerFolder, run: Path, lock: int) -> Launch:
        """Makes the data ready in `folder`; the server's socket will stand in `run`. Nobody else is at it.

        Children that write to the data inherit the descriptor `lock`. Raises EmbeddedServerError.
        """


class Membership:
    """One use of a running server, from `join` until `leave` or the end of this process.

    A forked child shares the use: the server stays while either lives.
    """

    def __init__(self, connection: socket.socket, greeting: Mapping[str, str], *, attached: bool) -> None:
        self.run = Path(greeting["run"])
        self.attached = attached
        self._connection = connection
        self._pid = os.getpid()

    def leave(self) -> None:
        """Ends the use; where it was the last one, returns when the server has stopped, its data free."""
        with self._connection as connection:
            if self._pid != os.getpid():
                return
            connection.settimeout(LEAVE_SECONDS)
            try:
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
            except TimeoutError:
                raise ServerFailedError(f"the embedded server did not stop within {LEAVE_SECONDS:.0f} s") from None
            except OSError:
                return  # the watchdog is gone, and the server with it


def join(path: Path, kind: ServerKind) -> Membership:
    """Joins the server of the folder `path`, starting it where none runs; returns when it takes connections.

    Raises FolderUnusableError, FolderHeldError where another account or program has it, ServerFailedError.
    """
    deadline = monotonic() + START_SECONDS
    folder = ServerFolder.open(path)
    try:
        with folder.locked("start.lock", deadline):
            return _attach(folder, deadline) or _start(folder, kind, deadline)
    except OSError as error:
        raise folder.refused(error) from error


def _attach(folder: ServerFolder, deadline: float) -> Membership | None:
    connection = socket.socket(socket.AF_UNIX)
    try:
        with folder.short_control() as control:
            connection.connect(control)
        return Membership(connection, _await_greeting(connection, folder, deadline), attached=True)
    except (FileNotFoundError, ConnectionError):  # none runs, or the last user has just left
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise


def _start(folder: ServerFolder, kind: ServerKind, deadline: float) -> Membership:
    connection = socket.socket(socket.AF_UNIX)
    try:
        with folder.locked("server.lock", deadline) as lock:
            run = make_run_folder(folder.path, folder.account)
            launch = kind.prepare(folder, run, lock)
            with socket.socket(socket.AF_UNIX) as listener, folder.short_control() as control:
                folder.control.unlink(missing_ok=True)
                listener.bind(control)
                folder.control.chmod(0o600)
                folder.give_to_owner(folder.control)
                listener.listen()
                connection.connect(control)  # before there is a watchdog, so that it cannot miss our death
                _spawn_watchdog(folder, run, launch, listener.fileno(), lock)
        return Membership(connection, _await_greeting(connection, folder, deadline), attached=False)
    except ConnectionError as error:
        connection.close()
        raise ServerFailedError(f"the watchdog of {kind.name} ended at once: {folder.log_tail()}") from error
    except BaseException:
        connection.close()
        raise


def _spawn_watchdog(folder: ServerFolder, run: Path, launch: Launch, listener: int, lock: int) -> None:
    """Starts the watchdog, in a session of its own where no Ctrl-C of ours reaches it."""
    plan = asdict(launch) | {
        "identity": folder.account.identity,
        "run": str(run),
        "greeting": {"run": str(run)},
        "control": str(folder.control),
        "holder": str(folder.holder),
        "listener": listener,
        "lock": lock,
    }
    log = folder.open_private(folder.log, os.O_WRONLY | os.O_APPEND)
    try:
        subprocess.run(  # noqa: S603 - our own program, no shell
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("watchdog.py")), str(folder.path)],
            input=json.dumps(plan),
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=log,
            pass_fds=[listener, lock],
            start_new_session=True,
            cwd="/",
            check=True,
        )
    except subprocess.CalledProcessError as error:
        raise ServerFailedError(f"the watchdog did not start: {folder.log_tail()}") from error
    finally:
        os.close(log)


def _await_greeting(connection: socket.socket, folder: ServerFolder, deadline: float) -> dict[str, str]:
    connection.settimeout(max(0.1, deadline - monotonic()))
    received = b""
    try:
        while not received.endswith(b"\n"):
            chunk = connection.recv(4096)
            if not chunk:
                raise ConnectionResetError
            received += chunk
    except TimeoutError:
        raise ServerFailedError(
            f"the server was not ready within {START_SECONDS:.0f} s; see {folder.log}: {folder.log_tail()}"
        ) from None
    greeting: dict[str, Any] = json.loads(received)
    if "ready" not in greeting:
        raise ServerFailedError(f"the server ended while it started; see {folder.log}: {greeting['failed']}")
    return dict(greeting["ready"])
