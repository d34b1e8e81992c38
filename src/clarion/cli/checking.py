"""`clarion doctor`, `health`, `settings` and `systemd`: how the set-up is, and what to do about it."""

import json
import sys
import urllib.error
import urllib.request
from typing import Annotated, Final

import typer
from pydantic import SecretStr
from rich.markup import escape

from clarion.cli import running
from clarion.cli.doctor import Finding, examine
from clarion.cli.exits import NotServing
from clarion.cli.printing import JsonOption, console, print_json, print_table
from clarion.config import PREFIX, SECRETS, Settings

checking = typer.Typer()

HEALTH_SECONDS: Final = 5
_SIGNS: Final = {"ok": "[green]ok  [/]", "warn": "[yellow]warn[/]", "bad": "[red]bad [/]"}


@checking.command()
def doctor(*, as_json: JsonOption = False) -> None:
    """Examine the set-up line by line, each with what to do; exit code 1 if anything is bad."""
    found = running.settings()
    findings: list[Finding] = running.run(lambda: examine(found))
    if as_json:
        print_json(findings)
    else:
        for finding in findings:
            console().print(
                f"{_SIGNS[finding.state]}  [bold]{escape(finding.what)}[/]: {escape(finding.said)}", soft_wrap=True
            )
            if finding.remedy:
                console().print(f"      {escape(finding.remedy)}", soft_wrap=True)
    if any(finding.state == "bad" for finding in findings):
        raise typer.Exit(1)


@checking.command()
def health(
    *,
    url: Annotated[
        str | None, typer.Option(help="Where Clarion serves. Default: by the settings host and port.")
    ] = None,
) -> None:
    """Ask the running server whether it is well: for healthchecks of containers."""
    found = running.settings()
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(found.host, found.host)  # noqa: S104 - asked, not bound
    base = (url or f"http://{host}:{found.port}").rstrip("/")
    if not base.startswith(("http://", "https://")):
        raise NotServing(f"{base} is no address of a server: give --url http://host:port")
    try:
        with urllib.request.urlopen(f"{base}/healthz", timeout=HEALTH_SECONDS) as answer:  # noqa: S310 - http(s) only
            print(json.dumps({"status": answer.status, "url": base}))
    except urllib.error.HTTPError as error:
        raise NotServing(f"Clarion at {base} is not well: it answered {error.code}; its log says why") from None
    except OSError as error:
        raise NotServing(
            f"nothing answers at {base} ({getattr(error, 'reason', error)}): start `clarion serve`, or give --url"
        ) from None


@checking.command()
def settings(*, as_json: JsonOption = False) -> None:
    """List every setting: its value, whether it was set, and what it means."""
    found = running.settings()
    rows = [(f"{PREFIX}{name.upper()}", _value(found, name), _origin(found, name), field.description or "")
            for name, field in Settings.model_fields.items()]  # fmt: skip
    if as_json:
        print_json([dict(zip(("name", "value", "from", "meaning"), row, strict=True)) for row in rows])
    else:
        print_table(("setting", "value", "from", "meaning"), rows)


@checking.command()
def systemd(*, user: Annotated[str, typer.Option(help="The account that Clarion runs as.")] = "clarion") -> None:
    """Print a unit for systemd: clarion systemd > /etc/systemd/system/clarion.service."""
    print(UNIT.format(command=_command(), user=user), end="")


def _command() -> str:
    return (
        sys.argv[0]
        if sys.argv[0].startswith("/") and not sys.argv[0].endswith(".py")
        else f"{sys.executable} -m clarion"
    )


def _value(found: Settings, name: str) -> str:
    value = getattr(found, name)
    if value is None:
        return ""
    if name == "database_url":
        return running.where(found)
    return "****" if name in SECRETS or isinstance(value, SecretStr) else str(value)


def _origin(found: Settings, name: str) -> str:
    return "set" if name in found.model_fields_set else "default"


UNIT: Final = """\
[Unit]
Description=Clarion, notifications
After=network-online.target postgresql.service
Wants=network-online.target

[Service]
User={user}
EnvironmentFile=-/etc/clarion.env
Environment=CLARION_DATA_DIR=/var/lib/clarion CLARION_LOG_FORMAT=json
StateDirectory=clarion
ExecStartPre={command} migrate
ExecStart={command} serve
Restart=on-failure
TimeoutStopSec=30
NoNewPrivileges=yes
PrivateTmp=yes
ProtectSystem=strict
ProtectHome=yes

[Install]
WantedBy=multi-user.target
"""
