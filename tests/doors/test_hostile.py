"""What strangers sent that once broke something: each is answered, refused or passed over, never a 500."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from clarion.api.idempotency import Once
from clarion.cli.ingesting import _read
from clarion.config import Settings
from clarion.engine import Engine
from clarion.model.errors import Invalid
from clarion.model.inbox import Cursor
from clarion.web.visits import is_loopback, is_same_origin


@pytest.mark.parametrize("column", ["created_at", "available_at", "settled_at"])
@pytest.mark.parametrize("instant", ["infinity", "-infinity", "0044-03-15 BC"])
def test_O7_an_instant_that_no_relay_can_read_cannot_be_stored(database_url: str, column: str, instant: str) -> None:
    state = "done" if column == "settled_at" else "waiting"
    columns = {"settled_at": "now()"} if column == "settled_at" else {}
    columns[column] = f"'{instant}'"
    sql = f"INSERT INTO clarion.outbox_event (type, state, {', '.join(columns)})"
    with psycopg.connect(database_url) as conn, pytest.raises(psycopg.errors.CheckViolation):
        conn.execute(f"{sql} VALUES ('a.b', '{state}', {', '.join(columns.values())})".encode())


def test_O11_two_requests_that_differ_in_their_headers_alone_differ() -> None:
    first = Once.of("host", "k", "POST", "/v1/events?\n[('ce-id', 'a')]", b"")
    second = Once.of("host", "k", "POST", "/v1/events?\n[('ce-id', 'b')]", b"")
    assert first.key == second.key
    assert first.digest != second.digest


async def test_relays_are_started_once(database_url: str) -> None:
    async with Engine(Settings(database_url=database_url)) as engine:
        engine.start_relays()
        with pytest.raises(Invalid, match="run in this process already"):
            engine.start_relays()


@pytest.mark.parametrize("text", [f"{'9' * 5000}.1", f"1.{'9' * 5000}", "1.", ".", "٣.1"])
def test_a_cursor_of_a_strangers_making_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="is no cursor"):
        Cursor.parse(text)


def test_an_origin_that_is_no_url_is_no_origin_of_ours() -> None:
    assert not is_same_origin({"origin": "http://[", "host": "clarion.example"}, None)
    assert not is_loopback("127.0.0.1", "[")


def test_ingest_reads_plain_files_alone_and_no_more_than_a_payload(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.json")
    with pytest.raises(OSError, match="it is no file"):
        _read(tmp_path / "fifo.json")
    with (tmp_path / "huge.json").open("wb") as huge:
        huge.truncate(1 << 30)
    assert len(_read(tmp_path / "huge.json")) == 25 * 1024 * 1024 + 1


@pytest.mark.parametrize("arguments", [["inbox", "ls", b"\xff\xfe"], ["why", "1e3", "ada"], ["why", "9" * 5000, "ada"]])
def test_odd_arguments_are_refused_in_words(database_url: str, arguments: list[str | bytes]) -> None:
    environment = {**os.environ, "CLARION_DATABASE_URL": database_url}
    ended = subprocess.run(
        [sys.executable, "-m", "clarion", *arguments], env=environment, capture_output=True, check=False, timeout=60
    )
    assert ended.returncode != 0
    assert b"Traceback" not in ended.stderr
