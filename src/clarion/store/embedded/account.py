"""Which account a server runs as: ours, unless we are root, whom PostgreSQL refuses.

Kept here: no account is ever created, and no folder above the server's own is opened to anybody.
"""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypedDict

from clarion.store.embedded.errors import OWN_SERVER, FolderUnusableError


class Identity(TypedDict, total=False):
    """The arguments of `subprocess` that start a child under another account; none to keep ours."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Account:
    """The user and group that own a server's data and run it."""

    uid: int
    gid: int
    borrowed: bool
    """True where we are root and stepped down to this account."""

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Chooses the account for an existing folder: ours; as root, the folder's owner, else `nobody`.

        Raises FolderUnusableError where root finds no account to step down to.
        """
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid(), borrowed=False)
        owner = folder.stat()
        if owner.st_uid != 0:
            return cls(owner.st_uid, owner.st_gid, borrowed=True)
        try:
            nobody = pwd.getpwnam("nobody")
        except KeyError:
            raise FolderUnusableError(
                f"PostgreSQL does not run as root and this system has no user 'nobody' to run it as: "
                f"start Clarion as another user, or {OWN_SERVER}"
            ) from None
        return cls(nobody.pw_uid, nobody.pw_gid, borrowed=True)

    @property
    def identity(self) -> Identity:
        """What to hand to `subprocess` so that a child runs as this account."""
        return Identity(user=self.uid, group=self.gid, extra_groups=[]) if self.borrowed else Identity()

    def reaches(self, path: Path) -> bool:
        """Tells whether the account may enter every folder down to `path`, by owner and mode bits alone."""
        if not self.borrowed:
            return True
        resolved = path.resolve()
        return all(self._enters(step) for step in (resolved, *resolved.parents))

    def _enters(self, path: Path) -> bool:
        status = path.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid == self.gid:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)

    def make_private(self, folder: Path) -> None:
        """Makes sure `folder` exists, belongs to the account and is closed to all others (mode 0700).

        Raises FolderUnusableError where the file system does not let us give it away.
        """
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            if self.borrowed:
                os.chown(folder, self.uid, self.gid, follow_symlinks=False)
            folder.chmod(0o700)
        except OSError as error:
            raise FolderUnusableError(
                f"{folder} cannot be given to the account {self.uid} that runs the server "
                f"({error.strerror}): choose another CLARION_DATA_DIR, or {OWN_SERVER}"
            ) from error
