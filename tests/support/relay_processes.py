"""Relay processes in tests: started, stopped at a barrier, killed, and heard through a pipe."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

SECONDS = 60.0
TESTS = Path(__file__).parents[1]


class RelayProcess:
    """One process of `relay_worker`."""

    def __init__(self, url: str, **options: Any) -> None:
        self._said = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "support.relay_worker", url, json.dumps(options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=TESTS,
        )

    def hear(self, word: str) -> None:
        """Waits until the process has said this; fails when it ends, or after a while."""
        assert self.process.stdout is not None
        deadline = monotonic() + SECONDS
        while f"{word}\n".encode() not in self._said:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - monotonic()))
            assert ready, f"the relay did not say {word!r}"
            chunk = os.read(self.process.stdout.fileno(), 4096)
            assert chunk, f"the relay ended before it said {word!r}"
            self._said += chunk

    def hear_stopped_at(self, point: str) -> None:
        """Waits until the process stands still at a barrier."""
        self.hear(point)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    @property
    def gone(self) -> bool:
        return self.process.poll() is not None

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kills with -9 and waits for the end."""
        self.process.kill()
        self.process.communicate(timeout=SECONDS)

    def drain(self) -> None:
        """Ends it in order."""
        self.send(signal.SIGTERM)
        self.hear("drained")
        self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0


class Relays:
    """The relay processes of a test over one database."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.processes: list[RelayProcess] = []

    def start(self, **options: Any) -> RelayProcess:
        relay = RelayProcess(self._url, **options)
        self.processes.append(relay)
        return relay

    def replace_dead(self, **options: Any) -> int:
        """Starts a process for each that has ended by itself; returns how many."""
        dead = [relay for relay in self.processes if relay.gone]
        for relay in dead:
            relay.process.communicate(timeout=SECONDS)
            self.processes.remove(relay)
            self.start(**options)
        return len(dead)


@contextlib.contextmanager
def relays(url: str) -> Iterator[Relays]:
    """Relays over a database; those still there at the end are killed."""
    crowd = Relays(url)
    try:
        yield crowd
    finally:
        for relay in crowd.processes:
            relay.kill()
