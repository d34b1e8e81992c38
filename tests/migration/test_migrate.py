"""Migrations: once, by any number of processes, in the host's own key types (K1, K3)."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from clarion.model.errors import WrongDatabase, WrongSchema
from clarion.store.migrate import migrate, pending, steps


def test_K3_migrating_twice_does_nothing_the_second_time(empty_database: str) -> None:
    assert pending(empty_database) == [step.name for step in steps()]
    assert migrate(empty_database) == [step.name for step in steps() if step.phase == "pre"]
    assert migrate(empty_database) == []
    assert pending(empty_database) == [step.name for step in steps() if step.phase == "post"]


def test_K3_many_processes_at_once_apply_each_step_once(empty_database: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        applied = list(pool.map(lambda _: migrate(empty_database), range(4)))
    assert sorted(map(len, applied)) == [0, 0, 0, len([step for step in steps() if step.phase == "pre"])]


@pytest.mark.parametrize("key_type", ["bigint", "uuid", "text"])
def test_K1_keys_take_the_hosts_own_type(empty_database: str, key_type: str) -> None:
    migrate(empty_database, person_key=key_type, space_key=key_type)  # type: ignore[arg-type]
    with psycopg.connect(empty_database) as conn:
        rows = conn.execute(
            "SELECT domain_name, data_type FROM information_schema.domains WHERE domain_schema = 'clarion' ORDER BY 1"
        ).fetchall()
    assert rows == [("person_key", key_type), ("space_key", key_type)]


def test_K1_a_schema_made_for_other_keys_is_refused_by_name(empty_database: str) -> None:
    migrate(empty_database)
    with pytest.raises(WrongSchema, match="bigint and bigint, the settings say uuid and bigint"):
        migrate(empty_database, person_key="uuid")


def test_K6_each_tenant_has_a_schema_of_its_own(empty_database: str) -> None:
    migrate(empty_database)
    migrate(empty_database, schema="other", person_key="uuid")
    with psycopg.connect(empty_database) as conn:
        conn.execute("SELECT other.publish('comment.created', thread => 't')")
        assert conn.execute("SELECT count(*) FROM other.outbox_event").fetchone() == (1,)
        assert conn.execute("SELECT count(*) FROM clarion.outbox_event").fetchone() == (0,)
        functions = conn.execute(
            "SELECT pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace"
            " WHERE n.nspname = 'other'"
        ).fetchall()
    assert functions
    assert not [text for (text,) in functions if "clarion." in text]


def test_a_database_that_does_not_store_utf8_is_refused_with_the_remedy(server_url: str, empty_database: str) -> None:
    name = f"{urlsplit(empty_database).path[1:]}_ascii"
    with psycopg.connect(server_url, autocommit=True) as conn:
        conn.execute(
            SQL("CREATE DATABASE {} ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'").format(
                Identifier(name)
            )
        )
        try:
            with pytest.raises(WrongDatabase, match="as SQL_ASCII, and Clarion needs UTF8"):
                migrate(urlsplit(empty_database)._replace(path=f"/{name}").geturl())
        finally:
            conn.execute(SQL("DROP DATABASE {}").format(Identifier(name)))
