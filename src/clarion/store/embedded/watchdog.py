"""Runs one server for as long as somebody uses it: the parent of the server, started by `supervisor`.

Kept here: a connection to the control socket is a use of the server, and the kernel closes it with the
process that made it, however that ends. When the last one is gone, the server is stopped; should this very
process be killed, the kernel stops the server. A server that dies by itself is started again.

Started by path with a bare interpreter, so it imports the standard library only and is up in milliseconds.
"""

import contextlib
import ctypes
import json
import os
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

LOG_BYTES = 16 * 1024 * 1024
TAIL_BYTES = 2000
RESTARTS, RESTART_SECONDS = 5, 60.0
PR_SET_PDEATHSIG = 1
LOG = 2
"""Our standard error is the server's log."""


class Watchdog:
    """One server and those who use it. `plan` is `supervisor.Launch` with the descriptors that we inherit."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self._plan = plan
        self._listener = socket.socket(fileno=plan["listener"])
        self._selector = selectors.DefaultSelector()
        self._users: dict[socket.socket, dict[str, Any]] = {}
        self._left: list[socket.socket] = []
        self._server: subprocess.Popen[bytes] | None = None
        self._starts: deque[float] = deque(maxlen=RESTARTS)
        self._tail = b""
        self._ready = False
        self._ending = False

    def run(self) -> None:
        """Starts the server; stops it when its last user has left, on SIGTERM, or when it cannot live."""
        self._listener.settimeout(0)
        self._selector.register(self._listener, selectors.EVENT_READ, self._welcome)
        self._watch_signals()
        try:
            self._welcome()
            self._start()
            while not self._ending and self._in_use():
                for key, _ in self._selector.select():
                    key.data()
        finally:
            self._stop()

    def _watch_signals(self) -> None:
        inbox, outbox = socket.socketpair()
        outbox.settimeout(0)
        signal.set_wakeup_fd(outbox.detach())
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, lambda *_: None)

        def notice() -> None:
            self._ending |= signal.SIGTERM in inbox.recv(64)

        self._selector.register(inbox, selectors.EVENT_READ, notice)

    # those who use it

    def _in_use(self) -> bool:
        self._welcome()  # whoever came while the last one left is in time
        if self._users:
            while self._left:
                self._left.pop().close()
        return bool(self._users)

    def _welcome(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                user, _ = self._listener.accept()
                user.settimeout(0)
                pid, *_ = struct.unpack("3i", user.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
                since = datetime.now(UTC).isoformat(timespec="seconds")
                self._users[user] = {"pid": pid, "command": _command(pid), "since": since}
                self._selector.register(user, selectors.EVENT_READ, partial(self._hear, user))
                self._publish_holder()
                if self._ready:
                    _tell(user, {"ready": self._plan["greeting"]})

    def _hear(self, user: socket.socket) -> None:
        with contextlib.suppress(ConnectionError):
            if user.recv(64):
                return
        self._selector.unregister(user)
        del self._users[user]
        self._left.append(user)  # closed when it is known whether the server stays: who leaves waits for that
        self._publish_holder()

    def _publish_holder(self) -> None:
        path = Path(self._plan["holder"])
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            if self._users:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
                with os.fdopen(descriptor, "w") as file:
                    json.dump(next(iter(self._users.values())), file)

    # the server

    def _start(self) -> None:
        plan, parent = self._plan, os.getpid()
        prctl = ctypes.CDLL(None).prctl
        self._ready, self._tail = False, b""
        self._starts.append(time.monotonic())

        def end_with_parent() -> None:
            prctl(PR_SET_PDEATHSIG, plan["stop"][0][0])
            if os.getppid() != parent:
                os._exit(1)

        self._server = subprocess.Popen(  # noqa: S603 - the supervisor's list, no shell
            plan["argv"],
            cwd=plan["cwd"],
            env=plan["env"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[plan["lock"]],
            umask=0o077,
            preexec_fn=end_with_parent,  # noqa: PLW1509 - this process has one thread
            **plan["identity"],
        )
        self._selector.register(self._output(), selectors.EVENT_READ, self._read_output)

    def _output(self) -> IO[bytes]:
        if self._server is None or self._server.stdout is None:
            raise RuntimeError("no server was started")
        return self._server.stdout

    def _read_output(self) -> None:
        chunk = os.read(self._output().fileno(), 65536)
        if not chunk:  # all processes of the server share this pipe: the last one is gone
            self._bury()
            return
        self._log(chunk)
        seen = self._tail + chunk
        self._tail = seen[-TAIL_BYTES:]
        if not self._ready and self._plan["ready"].encode() in seen:
            self._ready = True
            for user in self._users:
                _tell(user, {"ready": self._plan["greeting"]})

    def _log(self, chunk: bytes) -> None:
        with contextlib.suppress(OSError):  # a full disk is the server's to report
            if os.fstat(LOG).st_size > LOG_BYTES:
                os.ftruncate(LOG, 0)
            os.write(LOG, chunk)

    def _bury(self) -> None:
        server, lived = self._server, self._ready
        if server is None:
            return
        self._selector.unregister(self._output())
        self._output().close()
        status = server.wait()
        self._server, self._ready = None, False
        if self._ending:
            return
        hasty = len(self._starts) == RESTARTS and time.monotonic() - self._starts[0] < RESTART_SECONDS
        if lived and not hasty:
            self._log(f"watchdog: the server ended with status {status}; starting it again\n".encode())
            self._start()
            return
        self._ending = True
        for user in self._users:
            _tell(user, {"failed": self._tail.decode(errors="replace").strip() or f"exit status {status}"})

    def _stop(self) -> None:
        self._ending = True
        self._selector.unregister(self._listener)
        Path(self._plan["control"]).unlink(missing_ok=True)
        self._listener.close()
        for number, seconds in self._plan["stop"]:
            if self._server is None:
                break
            self._server.send_signal(number)
            self._await_end(time.monotonic() + seconds)
        Path(self._plan["holder"]).unlink(missing_ok=True)
        shutil.rmtree(self._plan["run"], ignore_errors=True)

    def _await_end(self, deadline: float) -> None:
        while self._server is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            for key, _ in self._selector.select(left):
                key.data()


def _tell(user: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # who is gone is noticed by the end of its connection
        user.sendall(json.dumps(message).encode() + b"\n")


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "unknown command"


def main() -> None:
    """Reads the plan from standard input, leaves the process that started us, and watches."""
    plan = json.load(sys.stdin)
    if os.fork():
        os._exit(0)  # nobody has to reap us
    Watchdog(plan).run()
    os._exit(0)  # the connections of who waits for our end close with us, not a moment earlier


if __name__ == "__main__":
    main()
