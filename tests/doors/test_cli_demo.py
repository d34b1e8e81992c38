"""`clarion demo`, `serve` and `worker`: what runs until it is told to stop, and frees its port."""

import json
import re
import signal
import socket
import urllib.request
from pathlib import Path

import psycopg
import pytest

from clarion.model.reasons import Reason
from support.command_line import CommandLine


@pytest.fixture
def shell(tmp_path: Path, empty_database: str) -> CommandLine:
    """A terminal whose settings name a database without anything in it."""
    return CommandLine(tmp_path, {"CLARION_DATABASE_URL": empty_database})


def test_the_demo_tells_who_heard_why_and_why_not_and_runs_again(shell: CommandLine, empty_database: str) -> None:
    said = shell.output("demo", "--exit")
    assert re.search(r"played 68 payloads of a small forge: \d+ events relayed in", said)
    assert re.search(r"\d+ events, 8 people heard of 27 things \(\d+ posts\), 0 failed, 0 waiting", said)
    for reason in set(Reason) - {Reason.OCCASION}:
        assert re.search(rf"^ {reason} ", said, re.MULTILINE), reason
    for why_not in (
        "bo does not hear of it: not named in it",
        "ada did it: nobody hears of their own activity (W6)",
        "hana does not hear of housekeeping (W14)",
        "dara has a block with the actor (W8)",
        "chidi has muted the actor (W8)",
        "grace has unsubscribed from the thread (W10)",
        "emil cannot read it (W8)",
        "emil ignores the space (W7)",
    ):
        assert why_not in said
    again = shell.output("demo", "--exit")
    assert "played here before: nothing to do" in again
    assert again.partition("\n\n")[2] == said.partition("\n\n")[2]
    with psycopg.connect(empty_database) as connection:
        schemas = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'clarion%'").fetchall()
    assert schemas == [("clarion_demo",)]
    (ignored,) = re.findall(r"^ (\d+) .* emil ignores", said, re.MULTILINE)
    assert "✗ stopped     W7   ignores the space" in shell.output("--demo", "why", ignored, "emil")


def test_the_demo_serves_its_page_on_real_content_and_frees_its_port(shell: CommandLine) -> None:
    with shell.running("demo", "--port", "0") as demo:
        said = demo.wait_for("Ctrl-C\n")
        (port,) = re.findall(r"http://127\.0\.0\.1:(\d+)/\?as=ada   signed in as ada, 4 unread", said)
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(f"http://127.0.0.1:{port}/?as=ada") as page:
            assert "Sailing list is empty" in page.read().decode()
        assert json.loads(shell.output("health", "--url", f"http://127.0.0.1:{port}"))["status"] == 200
        assert json.loads(shell.output("--demo", "doctor", "--json"))
        assert demo.stop(signal.SIGINT) == 0
    with socket.create_server(("127.0.0.1", int(port))):
        pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_O3_a_worker_finishes_what_it_has_and_ends_well(shell: CommandLine, number: signal.Signals) -> None:
    shell.output("migrate")
    with shell.running("worker", "--relays", "2") as worker:
        worker.wait_for("clarion relays (2)")
        assert worker.stop(number) == 0
        assert worker.printed.endswith("finishing the batch in hand\n")


def test_serve_migrates_relays_and_stops(shell: CommandLine) -> None:
    with shell.running("serve", "--migrate", "--port", "0") as serve:
        said = serve.wait_for("\n")
        (url,) = re.findall(r"http://127\.0\.0\.1:\d+", said)
        assert '"status": 200' in shell.output("health", "--url", url)
        relays = {found["what"]: found for found in json.loads(shell.output("doctor", "--json"))}["relay"]
        assert relays["state"] == "ok"
        assert serve.stop() == 0
