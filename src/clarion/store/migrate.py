"""Migrations: named SQL steps of our own, pre (before new code runs) and post (after the old is gone)."""

import re
from dataclasses import dataclass
from importlib.resources import files

import psycopg

from clarion.model.errors import WrongDatabase, WrongSchema
from clarion.model.keys import KeyType
from clarion.store.queries import in_schema

_FILE = re.compile(r"^(\d{4}_\w+)\.(pre|post)\.sql$")


@dataclass(frozen=True, slots=True)
class Step:
    """One migration file."""

    name: str
    phase: str
    sql: str


def steps() -> list[Step]:
    """Return every migration in order."""
    folder = files("clarion.store").joinpath("migrations")
    found = [
        Step(match[1], match[2], file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if (match := _FILE.match(file.name))
    ]
    return sorted(found, key=lambda step: step.name)


def migrate(
    url: str,
    *,
    schema: str = "clarion",
    person_key: KeyType = "bigint",
    space_key: KeyType = "bigint",
    finish: bool = False,
) -> list[str]:
    """Bring the schema up to date and return the steps that were applied, none if it was.

    Transaction: each step its own, under an advisory lock, so that any number of processes may call this at
    once. Steps marked post are applied with `finish` only: run them when no process of the last release is
    left. Raises: `WrongSchema` when the schema was made with other key types,
    `WrongDatabase` when the database does not store text as UTF8.
    """
    applied: list[str] = []
    with psycopg.connect(url, autocommit=True) as conn:
        if (encoding := conn.info.parameter_status("server_encoding")) != "UTF8":
            raise WrongDatabase(str(encoding))
        conn.execute("SELECT pg_advisory_lock(hashtext('clarion.migrate'), hashtext(%s))", [schema])
        conn.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        conn.execute(
            f"CREATE TABLE IF NOT EXISTS {schema}.schema_version (step text PRIMARY KEY, person_key text NOT NULL,"
            " space_key text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        rows = conn.execute(f"SELECT step, person_key, space_key FROM {schema}.schema_version").fetchall()
        for _, made_person, made_space in rows:
            if (made_person, made_space) != (person_key, space_key):
                raise WrongSchema(schema, (made_person, made_space), (person_key, space_key))
        done = {row[0] for row in rows}
        for step in steps():
            if step.name in done or (step.phase == "post" and not finish):
                continue
            with conn.transaction():
                text = step.sql.format(person_key=person_key, space_key=space_key)
                conn.execute(in_schema(text, schema))
                conn.execute(
                    f"INSERT INTO {schema}.schema_version (step, person_key, space_key) VALUES (%s, %s, %s)",
                    [step.name, person_key, space_key],
                )
            applied.append(step.name)
    return applied


def pending(url: str, *, schema: str = "clarion") -> list[str]:
    """Return the steps that are not applied yet; all of them where there is no schema."""
    with psycopg.connect(url, autocommit=True) as conn:
        if conn.execute("SELECT to_regclass(%s)", [f"{schema}.schema_version"]).fetchone() == (None,):
            return [step.name for step in steps()]
        done = {row[0] for row in conn.execute(f"SELECT step FROM {schema}.schema_version")}
    return [step.name for step in steps() if step.name not in done]
