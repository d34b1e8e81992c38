"""Parts of the reference that are made from the doors: errors, routes, commands, metrics."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from typer.main import get_command

import clarion.ingest.github_reading  # noqa: F401 - imported for its error
from clarion.api import create_app
from clarion.api.errors import CODES, status_of
from clarion.api.metrics import Measured, Metrics, _relays
from clarion.cli.app import app
from clarion.cli.exits import exit_code
from clarion.config import Settings
from clarion.engine import Engine
from clarion.model.errors import ClarionError
from clarion.work.tally import Tally

from .made_of_code import table
from .words import CODES_WITHOUT_A_CLASS, WHAT_TO_DO


def errors() -> str:
    """Every error: its class, code, status and exit code, what it means, and what to do."""
    rows: list[tuple[object, ...]] = [
        (
            f"`{each.__name__}`",
            f"`{each.code}`",
            status_of(each.__new__(each)),
            exit_code(each.__new__(each)),
            _first_line(each),
            WHAT_TO_DO[each.code],
        )
        for each in error_classes()
    ]
    known = {each.code for each in error_classes()}
    rows += [
        ("", f"`{code}`", int(status), "", CODES_WITHOUT_A_CLASS[code], "Correct the request.")
        for status, code in CODES.items()
        if code not in known
    ]
    return table(("class", "code", "HTTP", "exit", "meaning", "what to do"), rows)


def error_classes() -> list[type[ClarionError]]:
    """Every class of error, the doors' own included."""
    return [ClarionError, *_below(ClarionError)]


def _below(error: type[ClarionError]) -> Iterator[type[ClarionError]]:
    for each in sorted(error.__subclasses__(), key=lambda each: (each.__module__, each.__name__)):
        if each.__module__.startswith("clarion."):
            yield each
            yield from _below(each)


def _first_line(error: type) -> str:
    return (error.__doc__ or "").partition("\n\n")[0]


@cache
def description() -> dict[str, Any]:
    """The OpenAPI description of the app."""
    return create_app(_engine()).openapi()


def all_routes() -> list[tuple[str, str, dict[str, Any]]]:
    """Every route: method, path, operation."""
    return [
        (method.upper(), path, operation)
        for path, methods in description()["paths"].items()
        for method, operation in methods.items()
    ]


def routes() -> str:
    """Every route, by what it is about."""
    parts = []
    for tag in description()["tags"]:
        rows = [
            (f"`{method}`", f"`{path}`", operation["summary"], _for_whom(operation))
            for method, path, operation in all_routes()
            if tag["name"] in operation["tags"]
        ]
        head = f"### {tag['name'].capitalize()}\n\n{tag['description']}\n\n"
        parts.append(head + table(("method", "path", "what it does", "for"), rows))
    return "\n\n".join(parts)


def _for_whom(operation: dict[str, Any]) -> str:
    (scheme,) = operation.get("security") or [{}]
    return {"host_key": "your programs", "person_token": "a person"}.get(next(iter(scheme), ""), "anybody")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the program."""

    name: str
    help: str
    params: tuple[Any, ...]

    @property
    def options(self) -> set[str]:
        """The options that it takes."""
        return {option for param in self.params for option in (*param.opts, *param.secondary_opts)} | {"--help"}


@cache
def all_commands() -> dict[str, Command]:
    """Every command by its name, groups and the program itself included."""
    found: dict[str, Command] = {}

    def walk(command: Any, name: str) -> None:
        found[name] = Command(name, command.help or "", tuple(command.params))
        for word, below in getattr(command, "commands", {}).items():
            walk(below, f"{name} {word}")

    walk(get_command(app), "clarion")
    return found


def commands() -> str:
    """Every command with its arguments and options."""
    parts = []
    for command in all_commands().values():
        rows = [(f"`{_spelt(param)}`", getattr(param, "help", None) or "") for param in command.params]
        text = f"### `{command.name}`\n\n{' '.join(command.help.split())}"
        parts.append(text + ("\n\n" + table(("", "meaning"), rows) if rows else ""))
    return "\n\n".join(parts)


def _spelt(param: Any) -> str:
    if param.param_type_name == "argument":
        return str(param.metavar or param.name).upper() + ("…" if param.nargs == -1 else "")
    return ", ".join((*param.opts, *param.secondary_opts))


def all_metrics() -> list[Metric]:
    """Every metric that a server shows whose relays run in it."""
    metrics = Metrics(_engine())
    metrics._measured = Measured(up=True)
    registry: CollectorRegistry = metrics._registry
    return sorted([*registry.collect(), *_relays([Tally()])], key=lambda metric: metric.name)


def metrics() -> str:
    """Every metric, as Prometheus names it."""
    labels = {
        "clarion_events": "type, outcome", "clarion_event_failures": "type", "clarion_notifications": "reason",
        "clarion_outbox_events": "type, state", "clarion_outbox_oldest_seconds": "type, state",
        "clarion_outbox_unknown_events": "type", "clarion_http_request_seconds": "method, route, status",
    }  # fmt: skip
    return table(
        ("metric", "kind", "labels", "meaning"),
        (
            (
                f"`{metric.name}{'_total' if metric.type == 'counter' else ''}`",
                metric.type,
                labels.get(metric.name, ""),
                metric.documentation,
            )
            for metric in all_metrics()
        ),
    )


def _engine() -> Engine:
    return Engine(Settings())
