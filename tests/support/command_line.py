"""The command line over a database of the test's own: as a process, as it really is, or in this one."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from typer.testing import CliRunner

from clarion.cli.app import app
from clarion.cli.exits import exit_code
from clarion.model.errors import ClarionError

SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Somebody at a terminal, in an empty folder, with these settings and no others."""

    folder: Path
    settings: dict[str, str]

    def run(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Runs `python -m clarion` to its end."""
        return subprocess.run(
            [sys.executable, "-m", "clarion", *arguments],
            env=self._environment(settings),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def output(self, *arguments: str, **settings: str) -> str:
        """What a command that goes well prints."""
        done = self.run(*arguments, **settings)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout

    @contextmanager
    def running(self, *arguments: str) -> Iterator["Running"]:
        """A command that goes on until it is told to stop."""
        with subprocess.Popen(
            [sys.executable, "-m", "clarion", *arguments],
            env=self._environment({}),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                yield Running(process)
            finally:
                if process.poll() is None:
                    process.kill()

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        rest = {name: value for name, value in os.environ.items() if not name.startswith("CLARION_")}
        return {**rest, "PYTHONUNBUFFERED": "1", **self.settings, **more}


class Running:
    """A process of ours, and what it has printed so far."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.printed = ""

    def wait_for(self, text: str) -> str:
        """Waits until the process has printed a text, and returns all that it printed."""
        assert self.process.stdout is not None
        deadline = monotonic() + SECONDS
        while text not in self.printed:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - monotonic()))
            chunk = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            assert chunk, f"it never printed {text!r}, but: {self.printed}"
            self.printed += chunk.decode()
        return self.printed

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Sends a signal, and returns the exit code."""
        self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=SECONDS)
        self.printed += rest.decode()
        return self.process.returncode


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed, and its exit code."""

    stdout: str
    stderr: str
    returncode: int


@dataclass(frozen=True, slots=True)
class SameProcess:
    """The command in this process, where starting one each time would be all that a test does."""

    url: str

    def run(self, *arguments: str, **settings: str) -> Said:
        """Runs a command to its end."""
        environment = {"CLARION_DATABASE_URL": self.url, **settings}
        done = CliRunner().invoke(app, arguments, env=environment, prog_name="clarion")
        if isinstance(done.exception, ClarionError):
            return Said(done.stdout, f"clarion: {done.exception}\n", exit_code(done.exception))
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Said(done.stdout, done.stderr, done.exit_code)

    def output(self, *arguments: str, **settings: str) -> str:
        """What a command that goes well prints."""
        done = self.run(*arguments, **settings)
        assert done.returncode == 0, done
        return done.stdout
