"""The command line over one database: files in, events looked at, inboxes marked, the set-up examined."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import psycopg
import pytest

from clarion.config import Settings
from clarion.engine import Engine
from clarion.work.relay import Relay
from clarion.work.wake import Wake
from support.command_line import CommandLine, SameProcess

SAMPLE = Path(__file__).parents[2] / "src/clarion/ingest/sample"


@pytest.fixture
def shell(database_url: str) -> SameProcess:
    """A terminal whose settings name a database that holds the schema."""
    return SameProcess(database_url)


def files(*numbers: int) -> list[str]:
    return [str(path) for number in numbers for path in SAMPLE.glob(f"{number:03}.*.json")]


def execute(url: str, query: str, *parameters: Any) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(query.encode(), parameters)


def relay_all(url: str) -> None:
    async def relay() -> None:
        async with Engine(Settings(database_url=url, pool_size=2)) as engine:
            await Relay(engine.database, engine.notifier, Wake()).drain()

    asyncio.run(relay())


def test_good_files_are_applied_and_a_broken_one_among_them_is_named(tmp_path: Path, database_url: str) -> None:
    shell = CommandLine(tmp_path, {"CLARION_DATABASE_URL": database_url})
    broken, foreign = tmp_path / "issues.1.opened.json", tmp_path / "star.json"
    broken.write_text('{"action":')
    foreign.write_text('{"sender": {"id": 1, "login": "kim"}, "starred_at": null}')
    done = shell.run("ingest", "github", *files(14), str(broken), str(foreign), "missing.json", *files(15))
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["applied", "broken", "ignored", "broken", "applied"]
    assert "issue 9101#1 opened  (event 1)" in lines[0]
    assert f"{broken}: not JSON of an object" in lines[1]
    assert "not one of the events that are read" in lines[2]
    assert "cannot be read: there is no such file" in lines[3]
    assert "comment:80001 added to 9101#1  (event 2)" in lines[4]
    assert done.returncode == 1
    assert done.stderr == "clarion: 2 of 5 files changed nothing, for the reasons above\n"


def test_O11_files_that_come_again_are_ignored_and_all_is_well(shell: SameProcess) -> None:
    shell.output("ingest", "github", *files(14, 15))
    again = shell.output("ingest", "github", *files(14, 15))
    assert [line.rpartition(": ")[2] for line in again.splitlines()] == ["it was applied before"] * 2


def test_O6_events_set_aside_are_retried_and_dropped(shell: SameProcess, database_url: str) -> None:
    shell.output("ingest", "github", *files(14, 15, 18, 19))
    execute(
        database_url,
        "UPDATE clarion.outbox_event SET state = 'set_aside', settled_at = now(), attempts = 5,"
        " last_error = CASE WHEN id < 3 THEN 'ValueError: odd' ELSE 'KeyError: 7' END",
    )
    listed = json.loads(shell.output("outbox", "ls", "--state", "set_aside", "--json"))
    assert [event["id"] for event in listed] == [4, 3, 2, 1]
    assert "ValueError: odd" in shell.output("outbox", "show", "1")
    assert shell.output("outbox", "retry", "--error", "KeyError") == "events retried: 3, 4\n"
    refused = shell.run("outbox", "drop", "2", "3")
    assert refused.stdout == "events dropped: 2\nneither set aside nor of an unknown type, and left as they are: 3\n"
    assert refused.returncode == 1
    assert shell.output("outbox", "retry", "--all") == "events retried: 1\n"
    execute(database_url, "UPDATE clarion.outbox_event SET settled_at = now() - interval '3 days' WHERE id = 2")
    assert "events pruned: 0," in shell.output("outbox", "prune")
    assert "events pruned: 1," in shell.output("outbox", "prune", "--days", "2")


def test_O7_what_waits_and_nothing_here_knows_is_dropped_by_number_type_or_all(
    shell: SameProcess, database_url: str
) -> None:
    shell.output("ingest", "github", *files(14))
    types = ("boat.sunk", "boat.sunk", "boat.raised", "crew.saved", "crew.lost")
    for event_type in types:
        execute(database_url, "INSERT INTO clarion.outbox_event (type) VALUES (%s)", event_type)
    assert shell.output("outbox", "drop", "2") == "events dropped: 2\n"
    assert shell.output("outbox", "drop", "--type", "boat.sunk") == "events dropped: 3\n"
    assert "thread.opened is known here" in str(shell.run("outbox", "drop", "--type", "thread.opened").stderr)
    assert shell.output("outbox", "drop", "--all") == "events dropped: none\n"
    assert shell.output("outbox", "drop", "--all-unknown") == "events dropped: 4, 5, 6\n"
    assert json.loads(shell.output("outbox", "show", "1", "--json"))["state"] == "waiting"


def test_hints_repeat_what_was_given(shell: SameProcess, database_url: str) -> None:
    shell.output("ingest", "github", *files(14, 15, 16))
    listed = shell.output("outbox", "ls", "--state", "waiting", "--limit", "1")
    assert "outbox ls --state waiting --limit 1 --before " in listed
    relay_all(database_url)
    assert "inbox mark-all bo --undo " in shell.output("inbox", "mark-all", "bo")
    assert shell.output("inbox", "ls", "bo") == "bo has nothing in the list unread\n"
    assert shell.output("inbox", "ls", "bo", "--kind", "odd") == "bo has nothing in the list unread that fits\n"


def test_the_program_tells_its_version_and_its_help(shell: SameProcess) -> None:
    assert shell.output("--version").startswith("clarion 0.")
    assert "--demo" in shell.output("-h")
    assert "--tab" in shell.output("inbox", "ls", "-h")


def test_W16_why_shows_each_rule_and_ends_in_a_sentence(shell: SameProcess, database_url: str) -> None:
    shell.output("ingest", "github", *files(14, 15))
    relay_all(database_url)
    said = shell.output("why", "1", "ada")
    assert "the rules now" in said
    assert "reason: mentioned (you were mentioned)" in said
    assert "• told before W12  was told of this post already" in said
    assert said.splitlines()[-1] == "ada has heard of it, because ada was mentioned."
    stopped = json.loads(shell.output("why", "2", "9011", "--json"))
    assert stopped["hears_now"] is False
    assert "own activity" in stopped["sentence"]


def test_I1_an_inbox_is_listed_and_marked(shell: SameProcess, database_url: str) -> None:
    shell.output("ingest", "github", *files(14, 15, 16))
    relay_all(database_url)
    (row,) = json.loads(shell.output("inbox", "ls", "@bo", "--json"))["rows"]
    assert (row["key"], row["reason"], row["unread"]) == ("9101#1", "assigned", True)
    assert "Sailing list is empty" in shell.output("inbox", "ls", "bo")
    missing = shell.run("inbox", "read", "bo", "99")
    assert (missing.returncode, missing.stdout) == (os.EX_NOINPUT, "")
    assert "there is no notification of thread 99" in missing.stderr
    assert shell.output("inbox", "read", "bo", "9101#1") == "rows changed: 1, unread: 0\n"
    assert shell.output("inbox", "unread", "bo", str(row["thread"])) == "rows changed: 1, unread: 1\n"
    assert shell.output("inbox", "done", "bo", "9101#1") == "rows changed: 1, unread: 0\n"
    assert shell.output("inbox", "unread", "bo", "9101#1") == "rows changed: 1, unread: 1\n"
    assert shell.output("inbox", "save", "bo", "9101#1") == "rows changed: 1, unread: 1\n"
    assert shell.output("inbox", "snooze", "bo", "9101#1", "--until", "2999-01-01") == "rows changed: 1, unread: 0\n"
    assert shell.output("inbox", "snooze", "bo", "9101#1", "--back") == "rows changed: 1, unread: 1\n"
    marked = shell.output("inbox", "mark-all", "bo").splitlines()
    assert marked[0].endswith("unread: 0")
    undo = marked[1].rpartition("--undo ")[2]
    assert shell.output("inbox", "mark-all", "bo", "--undo", undo).endswith("unread: 1\n")
    assert shell.output("unsubscribe", "bo", "9101#1") == "bo does not follow 9101#1 any more\n"
    assert shell.output("unsubscribe", "bo", "9101#1") == "bo does not follow 9101#1 any more already\n"
    assert shell.output("subscribe", "bo", "9101#1") == "bo follows 9101#1\n"


def test_W7_spaces_are_watched_and_ignored_by_name_or_key(shell: SameProcess) -> None:
    shell.output("ingest", "github", *files(12, 14))
    assert shell.output("watch", "emil", "lumen/harbor") == "emil watches lumen/harbor: all\n"
    assert shell.output("ignore", "emil", "9101") == "emil ignores 9101\n"
    assert shell.output("ignore", "emil", "9101") == "emil ignores 9101 already\n"
    assert shell.output("watch", "emil", "9101", "--stop") == "emil has chosen nothing for 9101\n"
    assert "no space" in shell.run("watch", "emil", "lumen/vault").stderr


def test_people_and_keys_are_made_and_secrets_shown_once(shell: SameProcess) -> None:
    assert shell.output("people", "add", "7", "zoe", "--name", "Zoe") == "added @zoe (7)\n"
    assert shell.output("people", "add", "7", "zoe", "--name", "Zoë") == "changed @zoe (7)\n"
    assert shell.output("people", "token", "zoe").startswith("clp_")
    assert shell.output("key", "new", "--label", "tests").startswith("clh_")


def test_the_doctor_tells_each_thing_and_what_to_do(shell: SameProcess, database_url: str) -> None:
    said = {finding["what"]: finding for finding in json.loads(shell.output("doctor", "--json"))}
    assert {name: finding["state"] for name, finding in said.items()} == {
        "database": "ok",
        "role": "warn",
        "clock": "ok",
        "schema": "ok",
        "relay": "warn",
        "outbox": "ok",
        "event types": "ok",
        "set aside": "ok",
    }
    execute(
        database_url,
        "INSERT INTO clarion.outbox_event (type, available_at) VALUES ('boat.sunk', now() - interval '1 minute')",
    )
    bad = shell.run("doctor")
    assert bad.returncode == 1
    assert "bad   relay: none at work, and events wait" in bad.stdout
    assert "no resolver for boat.sunk (1 wait)" in bad.stdout
    assert "Known: access.changed, " in bad.stdout


def test_settings_are_listed_without_their_secrets(shell: SameProcess) -> None:
    listed = {row["name"]: row for row in json.loads(shell.output("settings", "--json", CLARION_API_KEY="hush"))}
    assert listed["CLARION_API_KEY"]["value"] == "****"
    assert listed["CLARION_PORT"]["from"] == "default"
    assert "postgresql://" not in listed["CLARION_DATABASE_URL"]["value"]
    assert all(row["meaning"] for row in listed.values())


def test_a_unit_for_systemd_is_printed(shell: SameProcess) -> None:
    unit = shell.output("systemd", "--user", "bells")
    assert "User=bells\n" in unit
    assert "-m clarion serve\n" in unit
