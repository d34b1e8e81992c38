"""Clarion's settings: one closed set, read once, at the start.

Kept here: what is not known or not valid is refused by name, with what is allowed; nothing is guessed.
This is the only module that reads the environment. Stronger first: arguments of `load`; the environment
(`CLARION_PORT=8600`, or `CLARION_API_KEY_FILE=/run/secrets/key` for a secret in a file of its own); `.env` in
the working directory, written alike; `clarion.toml` there, or the file that `CLARION_CONFIG` names.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from clarion.model.errors import SettingsError

PREFIX = "CLARION_"
CONFIG = "CLARION_CONFIG"
CONFIG_FILE = "clarion.toml"
SECRETS = ("api_key", "database_url")
"""Settings that may stand in a file of their own (CLARION_<NAME>_FILE) and that no message quotes."""

KeyType = Literal["bigint", "uuid", "text"]


def _default_data_dir() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "clarion"


class Settings(BaseModel):
    """All settings, validated and frozen. `load` reads them; the constructor only validates its arguments."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database_url: Annotated[
        str | None,
        Field(
            repr=False,
            description="URL of your PostgreSQL, 15 or newer: postgresql://user:password@host:port/database. "
            "Default: none; Clarion runs a PostgreSQL of its own in `data_dir`.",
        ),
    ] = None
    data_dir: Path = Field(
        default_factory=_default_data_dir,
        description="Folder of the embedded servers' data; delete it to start over. "
        "Default: $XDG_DATA_HOME/clarion, else ~/.local/share/clarion.",
    )
    schema_name: Annotated[
        str,
        Field(
            pattern=r"^[a-z_][a-z0-9_]{0,62}$",
            description="Schema of the database that holds Clarion's tables: a plain lower-case identifier "
            "of at most 63 characters. Default: clarion.",
        ),
    ] = "clarion"
    person_key: Annotated[
        KeyType,
        Field(description="SQL type of your people's keys; fixed at the first migration. Default: bigint."),
    ] = "bigint"
    space_key: Annotated[
        KeyType,
        Field(description="SQL type of your spaces' keys; fixed at the first migration. Default: bigint."),
    ] = "bigint"
    host: Annotated[str, Field(min_length=1, description="Address that the server listens on. Default: 127.0.0.1.")] = (
        "127.0.0.1"
    )
    port: Annotated[
        int,
        Field(
            ge=0,
            le=65535,
            description="TCP port that the server listens on; 0 takes a free one. Default: 8500.",
        ),
    ] = 8500
    public_url: Annotated[
        str | None,
        Field(
            pattern=r"^https?://[^\s/?#]+[^\s?#]*$",
            description="URL under which people reach Clarion, http:// or https://, for links. "
            "Default: none; http:// with `host` and `port`.",
        ),
    ] = None
    api_key: Annotated[
        SecretStr | None,
        Field(
            min_length=1,
            description="Key with which programs use the HTTP API. "
            "Default: none; then only keys made by `clarion key new` count.",
        ),
    ] = None
    log_format: Annotated[
        Literal["console", "json"],
        Field(description="Logs for eyes (console) or for machines (json, one object a line). Default: console."),
    ] = "console"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Field(description="The least level that is logged. Default: info."),
    ] = "info"
    pool_size: Annotated[
        int, Field(ge=1, le=1000, description="Database connections of one process, at most. Default: 10.")
    ] = 10
    relay_batch: Annotated[
        int, Field(ge=1, le=10_000, description="Events that a relay claims at once, at most. Default: 100.")
    ] = 100
    relay_poll_seconds: Annotated[
        float,
        Field(
            gt=0,
            le=3600,
            description="Seconds after which an idle relay looks for events without a signal. Default: 2.0.",
        ),
    ] = 2.0
    retention_days: Annotated[
        int, Field(ge=1, le=36_500, description="Days for which settled events are kept. Default: 14.")
    ] = 14

    @field_validator("database_url")
    @classmethod
    def _is_postgres(cls, url: str | None) -> str | None:
        if url is None or url.startswith(("postgresql://", "postgres://")):
            return url
        scheme, colon, _ = url.partition("://")
        if not colon:
            raise ValueError("it is no URL: give postgresql://user@host/database")
        kind, plus, driver = scheme.partition("+")
        drops = plus and kind in {"postgresql", "postgres"}
        advice = f"drop '+{driver}'" if drops else "give postgresql://user@host/database"
        raise ValueError(f"Clarion needs PostgreSQL 15 or newer, not {scheme!r}: {advice}")

    @field_validator("public_url")
    @classmethod
    def _has_no_trailing_slash(cls, url: str | None) -> str | None:
        return url.rstrip("/") if url else url


class _Value(NamedTuple):
    """A value with the name that a person knows it by and the place it stands in."""

    value: Any
    name: str
    place: str


def load(**overrides: Any) -> Settings:
    """Reads all settings from where they may stand and returns them validated.

    `overrides` are fields by name; they win, and None leaves a field to the other places. An empty variable
    counts as not set. Raises SettingsError, which names every setting that is unknown or wrong.
    """
    values: dict[str, _Value] = {}
    for layer in (
        _from_toml(os.environ),
        _from_variables(dotenv_values(".env", interpolate=False), ".env"),
        _from_variables(os.environ, "environment"),
        _from_overrides(overrides),
    ):
        values |= layer
    try:
        return Settings(**{field: found.value for field, found in values.items()})
    except ValidationError as error:
        raise SettingsError("\n".join(_complaint(detail, values) for detail in error.errors())) from None


def _complaint(detail: Any, values: Mapping[str, _Value]) -> str:
    field = str(detail["loc"][0])
    found = values[field]
    said = detail["msg"].removeprefix("Value error, ")
    shown = "" if field in SECRETS else f"={found.value}"
    return f"{found.name}{shown} ({found.place}): {said}. {Settings.model_fields[field].description}"


def _from_variables(variables: Mapping[str, str | None], place: str) -> dict[str, _Value]:
    known = {PREFIX + field.upper(): field for field in Settings.model_fields}
    files = {f"{PREFIX}{field.upper()}_FILE": field for field in SECRETS}
    plain: dict[str, _Value] = {}
    from_files: dict[str, _Value] = {}
    for name, value in variables.items():
        if not name.startswith(PREFIX):
            continue
        if name in known:
            if value:
                plain[known[name]] = _Value(value, name, place)
        elif name in files:
            if value:
                from_files[files[name]] = _Value(_read_secret(name, value), name, place)
        elif name != CONFIG:
            raise _unknown(name, place, (*known, *files, CONFIG))
    for field in plain.keys() & from_files.keys():
        raise SettingsError(f"{plain[field].name} and {from_files[field].name} ({place}) are both set: keep one")
    return plain | from_files


def _read_secret(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name}={path}: the file cannot be read ({error})") from error


def _from_toml(environment: Mapping[str, str]) -> dict[str, _Value]:
    named = environment.get(CONFIG)
    path = Path(named or CONFIG_FILE)
    if not named and not path.exists():
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{CONFIG}={path}: the file cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error
    for name in values.keys() - Settings.model_fields.keys():
        raise _unknown(name, str(path), Settings.model_fields)
    return {field: _Value(value, field, str(path)) for field, value in values.items()}


def _from_overrides(overrides: Mapping[str, Any]) -> dict[str, _Value]:
    for name in overrides.keys() - Settings.model_fields.keys():
        raise _unknown(name, "argument", Settings.model_fields)
    return {field: _Value(value, field, "argument") for field, value in overrides.items() if value is not None}


def _unknown(name: str, place: str, known: Iterable[str]) -> SettingsError:
    names = sorted(known)
    apart = {known_name.removeprefix(PREFIX): known_name for known_name in names}
    closest = get_close_matches(name.removeprefix(PREFIX), apart, n=1, cutoff=0.7)
    hint = f"did you mean {apart[closest[0]]}? " if closest else ""
    return SettingsError(f"{name} ({place}) is not a setting: {hint}Known are {', '.join(names)}.")
