"""Where a server's own socket stands: a private folder with a path short enough for Linux.

Kept here: only the server's account (and root) can enter it, even where its parent is everybody's.
"""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

from clarion.store.embedded.account import Account

SOCKET_PATH_BYTES = 107
"""The longest path that Linux takes for a Unix socket."""
SOCKET_NAME_BYTES = 24
"""Kept free of it for the name of the socket, and of its lock, below the folder."""


def make_run_folder(folder: Path, account: Account) -> Path:
    """Makes the run folder of the server in `folder` and returns it: `folder`/run where the path is short and
    the account can enter it, else a folder below the system's temporary one, the same at every start.

    Raises FolderUnusableError, OSError.
    """
    here = folder / "run"
    if _fits(here) and account.reaches(folder):
        account.make_private(here)
        return here
    temporary = _temporary(account)
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    away = temporary / f"clarion-{account.uid}-{digest}"
    try:
        away.mkdir(mode=0o700)
    except FileExistsError:
        if _is_private(away, account):
            return away
        away = Path(tempfile.mkdtemp(prefix="clarion-", dir=temporary))
    account.make_private(away)
    return away


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder)) + SOCKET_NAME_BYTES <= SOCKET_PATH_BYTES


def _temporary(account: Account) -> Path:
    configured = Path(tempfile.gettempdir())
    if _fits(configured / "clarion-4294967295-123456789012") and account.reaches(configured):
        return configured
    return Path("/tmp")  # noqa: S108 - what is made there is private, and checked where it was there before


def _is_private(folder: Path, account: Account) -> bool:
    status = folder.lstat()
    return (
        stat.S_ISDIR(status.st_mode) and status.st_uid == account.uid and stat.S_IMODE(status.st_mode) == stat.S_IRWXU
    )
