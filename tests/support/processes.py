"""Real processes in tests: started, killed, and waited for by the kernel's own events."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Self

import psycopg

from clarion.store.embedded.account import Account

FAST = {"fsync": "off"}
NOBODY = 65534
REPOSITORY = Path(__file__).parents[2]
SECONDS = 60.0


def ordinary_user() -> list[str]:
    """What to put before a command so that an ordinary user runs it; nothing where we are one.

    Where only root can reach the interpreter, the user gets the one right to read past closed folders.
    """
    if os.geteuid() != 0:
        return []
    user = Account(NOBODY, NOBODY, borrowed=True)
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if not all(user.reaches(path) for path in (Path(sys.executable), REPOSITORY)):
        command += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    return command


class Client:
    """A process that runs `embedded_client` on a folder, in a session of its own."""

    def __init__(self, folder: Path, prefix: Sequence[str] = ()) -> None:
        self.process = subprocess.Popen(
            [*prefix, sys.executable, str(Path(__file__).with_name("embedded_client.py")), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
        )

    def answer(self) -> dict[str, Any]:
        """What the client said when it had joined, or could not."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        assert ready, "the client said nothing"
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def leave(self) -> None:
        """Lets the client close and end."""
        with self.process:
            self.process.communicate(timeout=SECONDS)

    def kill(self) -> None:
        """Kills the client and all of its process group with -9."""
        with self.process:
            os.killpg(self.process.pid, signal.SIGKILL)


@contextlib.contextmanager
def clients() -> Iterator[list[Client]]:
    """A list of clients; those still running at the end are killed."""
    started: list[Client] = []
    try:
        yield started
    finally:
        for client in started:
            if client.process.poll() is None:
                client.kill()


class ServerProcesses:
    """All processes of the server that runs in a folder: watchdog, postmaster and its children."""

    def __init__(self, folder: Path) -> None:
        self.postmaster = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        process = Path(f"/proc/{self.postmaster}")
        self.watchdog = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        self._server = [os.pidfd_open(self.postmaster)]
        for child in (process / "task" / process.name / "children").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                self._server.append(os.pidfd_open(int(child)))
        self._watchdog = os.pidfd_open(self.watchdog)

    def wait_until_gone(self, *, watchdog: bool = True) -> None:
        """Waits until each of them has ended; fails after a while."""
        deadline = monotonic() + SECONDS
        for descriptor in [*self._server, *([self._watchdog] if watchdog else [])]:
            ended, _, _ = select.select([descriptor], [], [], max(0.0, deadline - monotonic()))
            assert ended, "a process of the server is still there"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in [*self._server, self._watchdog]:
            os.close(descriptor)


def ask(url: str, query: str) -> object:
    """The one value that a query gives."""
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row[0]


def remember(url: str, value: int) -> None:
    """Commits a value to the table `kept`."""
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (value int)")
        connection.execute("INSERT INTO kept VALUES (%s)", [value])
