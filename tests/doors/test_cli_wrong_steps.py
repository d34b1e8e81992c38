"""Wrong first steps: each is one sentence with the way out, on stderr, and an exit code that is not 0."""

import os
import socket
from pathlib import Path

import pytest

from support.command_line import CommandLine, SameProcess

NOWHERE = {"CLARION_DATABASE_URL": "postgresql://ada:hush@127.0.0.1:1/app"}


@pytest.mark.parametrize(
    ("settings", "command", "code", "says"),
    [
        (NOWHERE, "outbox ls", os.EX_UNAVAILABLE, "app at 127.0.0.1:1 cannot be reached"),
        (NOWHERE, "worker", os.EX_UNAVAILABLE, "start it, or correct CLARION_DATABASE_URL"),
        (NOWHERE, "serve --port 0", os.EX_UNAVAILABLE, "Connection refused"),
        (NOWHERE, "migrate", os.EX_UNAVAILABLE, "cannot be reached"),
        (NOWHERE, "demo --exit", os.EX_UNAVAILABLE, "cannot be reached"),
        ({"CLARION_DATABASE_URL": "sqlite:///app.db"}, "worker", os.EX_CONFIG, "needs PostgreSQL 15 or newer"),
        ({"CLARION_DATABASE_URL": "postgresql+psycopg://a@b/c"}, "worker", os.EX_CONFIG, "drop '+psycopg'"),
        ({"CLARION_DATABASE_URL": "hush"}, "worker", os.EX_CONFIG, "it is no URL"),
        ({"CLARION_NONSENSE": "1"}, "serve", os.EX_CONFIG, "is not a setting: Known are"),
        (NOWHERE, "inbox ls ada --demo", os.EX_USAGE, "`--demo` goes right after `clarion`"),
        ({"CLARION_PROT": "1"}, "serve", os.EX_CONFIG, "did you mean CLARION_PORT?"),
        ({"CLARION_PORT": "many"}, "serve", os.EX_CONFIG, "CLARION_PORT=many (environment)"),
        ({"CLARION_PUBLIC_URL": "forge.example"}, "serve", os.EX_CONFIG, "CLARION_PUBLIC_URL=forge.example"),
        ({"CLARION_DATA_DIR": "/proc/nowhere"}, "demo --exit", os.EX_UNAVAILABLE, "choose another CLARION_DATA_DIR"),
        ({"CLARION_PORT": "1"}, "health", os.EX_UNAVAILABLE, "start `clarion serve`"),
    ],
)
def test_a_wrong_first_step_is_one_sentence(
    tmp_path: Path, settings: dict[str, str], command: str, code: int, says: str
) -> None:
    done = CommandLine(tmp_path, settings).run(*command.split())
    assert says in done.stderr
    assert done.stderr.startswith("clarion: ")
    assert len(done.stderr.splitlines()) == 1
    assert "hush" not in done.stderr
    assert done.returncode == code


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("why 999 7", os.EX_NOINPUT, "there is no person '7'"),
        ("outbox show 999", os.EX_NOINPUT, "there is no event 999"),
        ("outbox show 99999999999999999999", os.EX_NOINPUT, "there is no event"),
        ("outbox ls --state odd", os.EX_USAGE, "one of waiting, done, skipped, set_aside, dropped"),
        ("outbox retry", os.EX_USAGE, "their numbers, --error TEXT, or --all"),
        ("inbox ls nobody", os.EX_NOINPUT, "give a handle or a key"),
        ("people add seven zoe", os.EX_USAGE, "'seven' is no person key"),
        ("people add 7 -zoe-", 2, "No such option"),
        ("people add 7 z@e", os.EX_USAGE, "is no handle"),
        ("migrate --finish --pending", os.EX_USAGE, "exclude each other"),
    ],
)
def test_what_is_not_there_or_malformed_is_said(database_url: str, command: str, code: int, says: str) -> None:
    done = SameProcess(database_url).run(*command.split())
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == code


def test_a_schema_that_is_not_there_is_said_and_migrated(empty_database: str) -> None:
    shell = SameProcess(empty_database)
    refused = shell.run("worker")
    assert refused.returncode == os.EX_CONFIG
    assert "lacks 0001_schema" in refused.stderr
    assert refused.stderr.endswith("run `clarion migrate`\n")
    assert shell.run("doctor").returncode == 1
    missing = shell.run("migrate", "--pending")
    assert missing.returncode == 1
    assert "missing  0001_schema" in missing.stdout
    assert "applied  0001_schema" in shell.output("migrate")
    assert shell.output("migrate") == "the schema is up to date\n"
    assert shell.output("migrate", "--pending") == "the schema is up to date\n"
    wrong = shell.run("migrate", CLARION_PERSON_KEY="uuid")
    assert wrong.returncode == os.EX_CONFIG
    assert "was made for person and space keys of type bigint" in wrong.stderr


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_port_in_use_is_said_with_another_to_take(tmp_path: Path, database_url: str, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shell = CommandLine(tmp_path, {"CLARION_DATABASE_URL": database_url})
        done = shell.run(command, "--port", str(port))
    assert done.returncode == os.EX_UNAVAILABLE
    assert done.stderr == (
        f"clarion: port {port} of 127.0.0.1 is in use: stop what listens there, or choose another,"
        f" as in --port {(other := port % 65535 + 1)} (CLARION_PORT={other}, `make run PORT={other}`)\n"
    )
