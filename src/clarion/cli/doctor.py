"""What `clarion doctor` looks at: each finding says how it is and, where it is not well, what to do."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from clarion.cli.exits import first_line
from clarion.cli.running import where
from clarion.config import Settings
from clarion.engine import Engine
from clarion.model.errors import ClarionError
from clarion.outbox import operate
from clarion.store.database import Database, Session
from clarion.store.embedded import EmbeddedPostgres
from clarion.store.migrate import pending, steps

OLDEST_VERSION: Final = 150_000
"""PostgreSQL 15."""
SKEW_SECONDS: Final = 2.0
LATE_SECONDS: Final = 30.0
"""An event that has waited longer is late: a relay looks every two seconds."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    what: str
    state: Literal["ok", "warn", "bad"]
    said: str
    remedy: str = ""


async def examine(settings: Settings) -> list[Finding]:
    """Look at everything that can be looked at; what cannot be reached ends the list."""
    return [finding async for finding in _findings(settings)]


async def _findings(settings: Settings) -> AsyncIterator[Finding]:
    async with AsyncExitStack() as exits:
        url = settings.database_url
        if url is None:
            embedded = EmbeddedPostgres(settings.data_dir / "postgres")
            try:
                url = await asyncio.to_thread(embedded.start)
            except ClarionError as error:
                yield Finding("data folder", "bad", str(error))
                return
            exits.push_async_callback(asyncio.to_thread, embedded.close)
            held = "runs already, for another process too" if embedded.attached else "was started for this look"
            yield Finding("data folder", "ok", f"{settings.data_dir}, whose PostgreSQL {held}")
        database = Database(url, settings.schema_name)
        try:
            session = await database.connect("doctor")
        except Exception as error:  # noqa: BLE001 - whatever keeps us out is the finding
            yield Finding(
                "database",
                "bad",
                f"{where(settings)}: {first_line(error)}",
                "Start it, or correct CLARION_DATABASE_URL.",
            )
            return
        await exits.enter_async_context(session.connection)
        server = (await session.fetch("describe_server"))[0]
        for finding in _server(settings, server):
            yield finding
        missing = await asyncio.to_thread(pending, url, schema=settings.schema_name)
        yield (found := _schema(settings, missing))
        if found.state != "bad":
            async for finding in _outbox(settings, session, server["relays"]):
                yield finding


def _server(settings: Settings, server: Mapping[str, Any]) -> list[Finding]:
    version = Finding("database", "ok", f"PostgreSQL {server['version']} {where(settings)}")
    if server["version_number"] < OLDEST_VERSION:
        version = Finding("database", "bad", f"PostgreSQL {server['version']}", "Clarion needs 15 or newer.")
    elif server["standby"]:
        version = Finding(
            "database", "bad", "a standby, which takes no writes", "Name the primary in CLARION_DATABASE_URL."
        )
    role = Finding("role", "ok", f"{server['role']}")
    if server["superuser"] and settings.database_url is not None:
        role = Finding(
            "role",
            "warn",
            f"{server['role']} is a superuser",
            "Make a role of its own that owns the schema: CREATE ROLE clarion LOGIN PASSWORD '…'.",
        )
    skew = abs((datetime.now(UTC) - server["at"]).total_seconds())
    clock = Finding("clock", "ok", f"this machine and the database agree within {max(skew, 0.1):.1f} s")
    if skew > SKEW_SECONDS:
        clock = Finding(
            "clock",
            "warn",
            f"this machine and the database differ by {skew:.1f} s",
            "Set both by NTP; Clarion goes by the database's clock.",
        )
    return [version, role, clock]


def _schema(settings: Settings, missing: list[str]) -> Finding:
    phases = {step.name: step.phase for step in steps()}
    if needed := [name for name in missing if phases[name] == "pre"]:
        return Finding("schema", "bad", f"{settings.schema_name} lacks {', '.join(needed)}", "Run `clarion migrate`.")
    if missing:
        return Finding(
            "schema",
            "warn",
            f"{settings.schema_name} is not finished: {', '.join(missing)}",
            "Run `clarion migrate --finish` when no process of the last release is left.",
        )
    return Finding("schema", "ok", f"{settings.schema_name} is up to date")


async def _outbox(settings: Settings, session: Session, relays: int) -> AsyncIterator[Finding]:
    depths = await session.run(operate.measure_outbox())
    waiting = [depth for depth in depths if depth.state == "waiting"]
    count, oldest = sum(depth.count for depth in waiting), max((depth.oldest_seconds for depth in waiting), default=0.0)
    if relays:
        yield Finding("relay", "ok", f"{relays} at work on this database")
    elif count:
        yield Finding("relay", "bad", "none at work, and events wait", "Run `clarion worker`, or `clarion serve`.")
    else:
        yield Finding("relay", "warn", "none at work", "Run `clarion worker`, or `clarion serve`.")
    late = oldest > LATE_SECONDS
    yield Finding(
        "outbox",
        "warn" if late else "ok",
        f"{count} events wait, the oldest for {oldest:.0f} s" if count else "no event waits",
        "See `clarion outbox ls --state waiting`, and the relays' log." if late else "",
    )
    notifier = Engine(settings).notifier
    unknown = await session.run(operate.find_unknown_types(notifier.name, notifier.types()))
    if unknown:
        yield Finding(
            "event types",
            "warn",
            "no resolver for " + ", ".join(f"{name} ({number} wait)" for name, number in unknown.items()),
            "They wait for a release that knows them; `clarion outbox drop --all-unknown` (or `--type`) gives them up."
            f" Known: {', '.join(sorted(notifier.types()))}.",
        )
    else:
        yield Finding("event types", "ok", "every type that waits has a resolver")
    aside = {depth.type: depth.count for depth in depths if depth.state == "set_aside"}
    if aside:
        yield Finding(
            "set aside",
            "warn",
            ", ".join(f"{number} of {name}" for name, number in aside.items()),
            "See `clarion outbox ls --state set_aside`, then `clarion outbox retry` or `drop`.",
        )
    else:
        yield Finding("set aside", "ok", "no event was set aside (dead letter)")
