"""What one page, one badge and one mark-all read of an inbox of 300,000 rows: asserted on plans, never on time (P13).

Each statement is planned both ways that the server may choose: for the values at hand, and once for all values.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.sql import Literal

from clarion.model.inbox import TOP
from clarion.store.queries import Queries
from support.databases import create_database, drop_database

ROWS = 300_000
PAGE = 51
BUFFERS_A_ROW = 60
QUERIES = Queries()

SEED = f"""
INSERT INTO clarion.person (id, handle, handle_folded) SELECT i, 'p' || i, 'p' || i FROM generate_series(1, 50) AS i;
INSERT INTO clarion.content_space (id, name, visibility) SELECT i, 's' || i, 'public' FROM generate_series(1, 500) AS i;
INSERT INTO clarion.space SELECT id FROM clarion.content_space;
INSERT INTO clarion.thread (key, space, kind, title, head)
SELECT 't' || i, 1 + i % 500, 'issue', 'T' || i, 3 FROM generate_series(1, {ROWS}) AS i;
INSERT INTO clarion.post (thread, position, key, kind, author)
SELECT t.id, 1, t.id || ':1', 'comment', 2 FROM clarion.thread t;
INSERT INTO clarion.inbox_state (person, version) VALUES (1, {ROWS}), (2, {ROWS}), (3, {ROWS});
INSERT INTO clarion.notification (thread, person, seq, reason, bulk, first_unread, last, active_at)
SELECT id, 1, s.seq, 'watching', 'watching', 1, 1, '2025-01-01Z'::timestamptz + s.seq * interval '1 minute'
FROM clarion.thread CROSS JOIN LATERAL (SELECT (id * 7919) % {ROWS} + 1 AS seq) s;
"""

INBOXES = {
    "read one by one but for 20": f"UPDATE clarion.notification SET read_at = now() WHERE (seq % {ROWS // 20}) <> 0",
    "below the watermark but for 20 marked unread": (
        f"UPDATE clarion.inbox_state SET read_seq = {ROWS};"
        f"UPDATE clarion.notification SET unread_seq = {ROWS} + 1 WHERE (seq % {ROWS // 20}) = 0;"
        f"UPDATE clarion.inbox_state SET version = {ROWS} + 1"
    ),
    "below the watermark": f"UPDATE clarion.inbox_state SET read_seq = {ROWS}",
    "unread": "SELECT 1",
    "done but for 20": (
        f"UPDATE clarion.notification SET read_at = now(), done_at = now() WHERE (seq % {ROWS // 20}) <> 0"
    ),
}


@dataclass(frozen=True)
class Plan:
    """What a statement read and how."""

    buffers: int
    most_rows: int
    indexes: set[str]
    scanned: set[str]
    sorted_rows: int


@pytest.fixture(scope="module")
def seeded(server_url: str, template: str) -> Iterator[str]:
    url = create_database(server_url, template)
    with psycopg.connect(url) as conn:
        conn.execute(SEED)
    yield url
    drop_database(url, server_url)


@pytest.fixture(scope="module", params=list(INBOXES))
def inbox(request: pytest.FixtureRequest, seeded: str, server_url: str) -> Iterator[psycopg.Connection[Any]]:
    url = create_database(server_url, urlsplit(seeded).path[1:])
    with psycopg.connect(url, autocommit=True) as conn:
        for statement in INBOXES[request.param].split(";"):
            conn.execute(statement)
        conn.execute(
            "UPDATE clarion.inbox_state s SET unread_count = (SELECT count(*) FROM clarion.unread(1)) WHERE person = 1"
        )
        conn.execute("VACUUM ANALYZE")
        yield conn
    drop_database(url, server_url)


def explain(conn: psycopg.Connection[Any], mode: str, name: str, **params: Any) -> Plan:
    """Run a named query under EXPLAIN in a transaction that is undone, and return what it read."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    sql = re.sub(r"%\((\w+)\)s", number, QUERIES[name])
    values = ", ".join(Literal(params[key]).as_string(conn) for key in names)
    with conn.transaction(force_rollback=True):
        conn.execute(f"SET LOCAL plan_cache_mode = force_{mode}_plan")
        conn.execute("SET LOCAL jit = off")
        conn.execute(f"PREPARE planned AS {sql}")
        found = conn.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE planned ({values})").fetchone()
        conn.execute("DEALLOCATE planned")
    assert found is not None
    top = (found[0] if isinstance(found[0], list) else json.loads(found[0]))[0]["Plan"]
    nodes = list(_nodes(top))
    return Plan(
        buffers=top["Shared Hit Blocks"] + top["Shared Read Blocks"],
        most_rows=max(int(node["Actual Rows"] * node["Actual Loops"]) for node in nodes),
        indexes={node["Index Name"] for node in nodes if "Index Name" in node and node["Actual Loops"]},
        scanned={node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan" and node["Actual Loops"]},
        sorted_rows=max(
            (node["Actual Rows"] for node in nodes if "Sort" in node["Node Type"] and node["Actual Loops"]), default=0
        ),
    )


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)


def page(**changes: Any) -> dict[str, Any]:
    asked = {"person": 1, "reason": None, "space": None, "kind": None, "filtered": False, "limit": PAGE}
    return asked | {"before_seq": TOP.seq, "before_thread": TOP.thread, "max_posts": 1000} | changes


@pytest.fixture(params=["custom", "generic"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("before", [TOP.seq, ROWS // 2])
@pytest.mark.parametrize("tab", ["unread", "all", "saved", "snoozed", "done"])
def test_P13_a_page_reads_a_page(inbox: psycopg.Connection[Any], mode: str, tab: str, before: int) -> None:
    plan = explain(inbox, mode, f"list_{tab}", **page(before_seq=before))
    assert "notification" not in plan.scanned
    assert plan.indexes & {f"notification_{tab}", "notification_open", "notification_person"}
    # Of an inbox with almost all done, the tab "all" looks at its thousand keys to find few.
    bound = 6 * 1000 if tab == "all" else 0
    assert plan.buffers <= BUFFERS_A_ROW * PAGE + bound
    assert plan.most_rows <= 1001
    assert plan.sorted_rows <= PAGE


@pytest.mark.parametrize("choice", [{"space": 7}, {"reason": "mentioned"}, {"kind": "pull_request"}])
@pytest.mark.parametrize("tab", ["unread", "all"])
def test_P13_a_filter_looks_at_a_thousand_keys(
    inbox: psycopg.Connection[Any], mode: str, tab: str, choice: dict[str, Any]
) -> None:
    plan = explain(inbox, mode, f"list_{tab}", **page(filtered=True, **choice))
    assert "notification" not in plan.scanned
    assert plan.most_rows <= 1001
    assert plan.buffers <= BUFFERS_A_ROW * PAGE + 6 * 1000


def test_P13_the_badge_and_its_colour_are_read_without_counting(inbox: psycopg.Connection[Any], mode: str) -> None:
    plan = explain(inbox, mode, "show_inbox", person=1)
    assert "notification" not in plan.scanned
    assert plan.buffers <= 40
    assert plan.most_rows <= 20


def test_P13_mark_all_reads_what_came_after_the_cutoff(inbox: psycopg.Connection[Any], mode: str) -> None:
    (version,) = inbox.execute("SELECT version FROM clarion.inbox_state WHERE person = 1").fetchone() or (0,)
    moved = explain(inbox, mode, "set_watermark", person=1, cutoff=version)
    assert "notification" not in moved.scanned
    assert moved.buffers <= 60
    with inbox.transaction(force_rollback=True):
        inbox.execute("UPDATE clarion.inbox_state SET read_seq = version - 10 WHERE person = 1")
        counted = explain(inbox, mode, "recount_unread", person=1)
    assert "notification" not in counted.scanned
    assert counted.buffers <= 100
    assert counted.most_rows <= 40


def test_P13_an_instant_is_translated_from_the_rows_around_it(inbox: psycopg.Connection[Any], mode: str) -> None:
    instant = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=ROWS - 100)
    plan = explain(inbox, mode, "count_read_through", person=1, instant=instant, version=ROWS)
    assert "notification" not in plan.scanned
    assert plan.buffers <= 400
    assert plan.most_rows <= 160


@pytest.mark.parametrize("mark", ["mark_read", "mark_unread", "mark_done", "mark_saved", "mark_unsaved"])
def test_P13_a_mark_reads_its_rows(inbox: psycopg.Connection[Any], mode: str, mark: str) -> None:
    plan = explain(inbox, mode, mark, person=1, threads=list(range(1000, 1100)))
    assert "notification" not in plan.scanned
    assert plan.most_rows <= 200
    assert plan.buffers <= 100 * 80
