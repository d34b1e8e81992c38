"""The embedded PostgreSQL under real faults: processes killed, raced, and replaced by strangers."""

import os
import signal
import subprocess
import threading
from pathlib import Path

import psycopg
import pytest

from clarion.store.embedded import EmbeddedPostgres, EmbeddedServerError, FolderHeldError
from clarion.store.embedded.account import Account
from support.processes import FAST, Client, ServerProcesses, ask, clients, remember


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "postgres"


def test_it_starts_answers_and_stops(folder: Path) -> None:
    server = EmbeddedPostgres(folder, settings=FAST)
    with server:
        url = server.start()
        assert not server.attached
        assert server.version == ask(url, "SHOW server_version")
        assert (
            ask(url, "SELECT concat(datlocprovider, datlocale) FROM pg_database WHERE datname = 'clarion'")
            == "bC.UTF-8"
        )
        assert ask(url, "SHOW listen_addresses") == ""
        processes = ServerProcesses(folder)
    with processes:
        processes.wait_until_gone()
    server.close()
    assert sorted(path.name for path in folder.iterdir()) == [
        "data",
        "server.lock",
        "server.log",
        "start.lock",
    ]
    with pytest.raises(EmbeddedServerError):
        _ = server.version


def test_data_is_kept_between_runs(folder: Path) -> None:
    with EmbeddedPostgres(folder, settings=FAST) as server:
        remember(server.start(), 7)
    with EmbeddedPostgres(folder, settings=FAST) as server:
        assert ask(server.start(), "SELECT value FROM kept") == 7


def test_no_server_outlives_its_killed_process(folder: Path) -> None:
    with clients() as started:
        started.append(Client(folder))
        remember(started[0].answer()["url"], 1)
        with ServerProcesses(folder) as processes:
            started[0].kill()
            processes.wait_until_gone()
    with EmbeddedPostgres(folder, settings=FAST) as server:
        assert ask(server.start(), "SELECT value FROM kept") == 1


def test_no_server_outlives_its_killed_watchdog(folder: Path) -> None:
    server = EmbeddedPostgres(folder, settings=FAST)
    server.start()
    with ServerProcesses(folder) as processes:
        os.kill(processes.watchdog, signal.SIGKILL)
        processes.wait_until_gone()
    server.close()
    assert ask(server.start(), "SELECT 1") == 1
    assert not server.attached
    server.close()


def test_a_second_process_attaches_and_works_on_when_the_first_is_killed(folder: Path) -> None:
    with clients() as started:
        started.append(Client(folder))
        first = started[0].answer()
        server = EmbeddedPostgres(folder)
        with psycopg.connect(server.start()) as connection:
            assert not first["attached"]
            assert server.attached
            started[0].kill()
            assert connection.execute("SELECT 1").fetchone() == (1,)
        with ServerProcesses(folder) as processes:
            server.close()
            processes.wait_until_gone()


def test_the_first_leaves_in_peace_and_the_second_works_on(folder: Path) -> None:
    first, second = EmbeddedPostgres(folder, settings=FAST), EmbeddedPostgres(folder)
    first.start()
    url = second.start()
    first.close()
    assert ask(url, "SELECT 1") == 1
    second.close()


def test_processes_that_start_at_once_share_one_server(folder: Path) -> None:
    with clients() as started:
        started.extend(Client(folder) for _ in range(5))
        answers = [client.answer() for client in started]
        assert sorted(answer["attached"] for answer in answers) == [False, True, True, True, True]
        servers = {ask(answer["url"], "SELECT pg_postmaster_start_time()::text") for answer in answers}
        assert len(servers) == 1
        for client in started:
            client.leave()
    assert not (folder / "data" / "postmaster.pid").exists()


def test_a_process_that_comes_while_the_last_one_leaves_gets_a_server(folder: Path) -> None:
    for _ in range(5):
        with EmbeddedPostgres(folder, settings=FAST) as last:
            last.start()
            comer = EmbeddedPostgres(folder, settings=FAST)
            thread = threading.Thread(target=comer.start)
            thread.start()
        thread.join()
        assert ask(comer.start(), "SELECT 1") == 1
        comer.close()


def test_the_server_outlives_the_thread_that_started_it(folder: Path) -> None:
    server = EmbeddedPostgres(folder, settings=FAST)
    thread = threading.Thread(target=server.start)
    thread.start()
    thread.join()
    assert ask(server.start(), "SELECT 1") == 1
    server.close()


def test_a_killed_server_is_started_again(folder: Path) -> None:
    with EmbeddedPostgres(folder, settings=FAST) as server:
        remember(server.start(), 3)
        with ServerProcesses(folder) as processes:
            os.kill(processes.postmaster, signal.SIGKILL)
            processes.wait_until_gone(watchdog=False)
        with EmbeddedPostgres(folder) as other:
            assert other.attached
            assert ask(other.start(), "SELECT value FROM kept") == 3


def test_a_pid_file_left_by_a_reboot_does_not_stop_a_start(folder: Path) -> None:
    with EmbeddedPostgres(folder, settings=FAST):
        pid_file = (folder / "data" / "postmaster.pid").read_text()
    with subprocess.Popen(["/bin/sleep", "60"], cwd="/", **Account.of(folder).identity) as stranger:
        (folder / "data" / "postmaster.pid").write_text("\n".join([str(stranger.pid), *pid_file.splitlines()[1:]]))
        (folder / "control.sock").touch()
        with EmbeddedPostgres(folder, settings=FAST) as server:
            assert ask(server.start(), "SELECT 1") == 1
        stranger.kill()


def test_a_server_started_by_hand_is_left_alone(folder: Path) -> None:
    EmbeddedPostgres(folder, settings=FAST).__enter__().close()
    with subprocess.Popen(["/bin/sleep", "60"], cwd=folder / "data") as by_hand:
        (folder / "data" / "postmaster.pid").write_text(f"{by_hand.pid}\n")
        with pytest.raises(FolderHeldError, match=rf"process {by_hand.pid} \(/bin/sleep 60\)"):
            EmbeddedPostgres(folder).start()
        by_hand.kill()
