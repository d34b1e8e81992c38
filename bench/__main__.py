"""`python -m bench [P1 P4 …]`: run the cases, all by default, print the table, write build/bench.json."""

import asyncio
import json
import os
import platform
import sys
import traceback
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import structlog

from bench.fanout import fan_out
from bench.figures import Figure, show
from bench.ground import BUILD, Ground, fresh_ground
from bench.inboxes import read_inboxes
from bench.latency import respond
from bench.notifying import tell_backlog
from bench.publishing import publish_from_many, publish_many, publish_one
from bench.relaying import drain

Group = Callable[[Ground], Awaitable[Sequence[Figure]]]
PATH = BUILD / "bench.json"


async def beside_django(ground: Ground) -> Sequence[Figure]:
    """P9, where Django and django-notifications are installed."""
    try:
        from bench.djangos import beside_django as measured  # noqa: PLC0415 - a peer may be missing
    except ImportError as error:
        print(f"P9 is left out: {error}", file=sys.stderr)
        return []
    return await measured(ground)


GROUPS: dict[tuple[str, ...], Group] = {
    ("P1",): publish_one,
    ("P2",): publish_from_many,
    ("P3",): publish_many,
    ("P4",): drain,
    ("P5",): respond,
    ("P6",): tell_backlog,
    ("P7", "P8"): fan_out,
    ("P9",): beside_django,
    ("P13",): read_inboxes,
}
"""What measures which cases: those of a group share what they seed."""

CASES = [case for group in GROUPS for case in group]


def main() -> None:
    parser = ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all by default")
    chosen = parser.parse_args().cases or CASES
    if strange := sorted(set(chosen) - set(CASES)):
        parser.error(f"no such case: {', '.join(strange)}; there are {', '.join(CASES)}")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    figures: list[Figure] = []
    failed: list[str] = []
    with fresh_ground() as ground:
        about = {"date": datetime.now(UTC).isoformat(timespec="seconds"), **_machine(), **_versions(ground)}
        for group, measure in GROUPS.items():
            if set(group) & set(chosen):
                print(f"{', '.join(group)} …", file=sys.stderr, flush=True)
                try:
                    figures += [figure for figure in asyncio.run(_run(measure, ground)) if figure.case in chosen]
                except Exception:  # noqa: BLE001 - what broke one case says nothing of the others
                    failed += [case for case in group if case in chosen]
                    traceback.print_exc()
                # After each group, so that a run that is cut short leaves what it found.
                written = {**about, "figures": [_written(figure) for figure in figures]}
                PATH.write_text(json.dumps(written, indent=2) + "\n")
    print(show(figures))
    print(f"written: {PATH.relative_to(Path.cwd()) if PATH.is_relative_to(Path.cwd()) else PATH}")
    if failed:
        raise SystemExit(f"not measured: {', '.join(failed)}")


async def _run(measure: Group, ground: Ground) -> Sequence[Figure]:
    return await measure(ground)


def _written(figure: Figure) -> dict[str, Any]:
    return {**asdict(figure), "goal": None if figure.goal is None else str(figure.goal), "met": figure.met}


def _machine() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "machine": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "cores": os.cpu_count(),
        "memory_bytes": memory,
        "load": os.getloadavg(),
    }


def _versions(ground: Ground) -> dict[str, Any]:
    packages = ("clarion", "psycopg", "sqlalchemy", "pgqueuer", "django", "django-notifications-hq")
    return {
        "python": platform.python_version(),
        "postgresql": ground.version,
        "packages": {name: _version(name) for name in packages},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
