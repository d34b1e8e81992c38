"""Settings: one closed set; what is unknown or wrong is refused with its name and what is allowed."""

import os
from pathlib import Path

import pytest

from clarion.config import Settings, load
from clarion.model.errors import SettingsError


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("CLARION_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def refusal(**overrides: object) -> str:
    with pytest.raises(SettingsError) as caught:
        load(**overrides)
    return str(caught.value)


def test_everything_has_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    settings = load()
    assert settings.database_url is None
    assert settings.data_dir == Path("/data/clarion")
    assert (settings.host, settings.port, settings.schema_name) == ("127.0.0.1", 8500, "clarion")
    assert (settings.relay_poll_seconds, settings.retention_days) == (2.0, 14)


def test_the_data_folder_is_below_home_without_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/ada")
    assert load().data_dir == Path("/home/ada/.local/share/clarion")


def test_every_setting_says_its_default() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description is not None, name
        assert "Default: " in field.description, name


def test_argument_environment_dotenv_and_toml_win_in_that_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "clarion.toml").write_text('port = 1\npool_size = 1\nrelay_batch = 1\nhost = "toml"\n')
    (tmp_path / ".env").write_text("CLARION_PORT=2\nCLARION_POOL_SIZE=2\nCLARION_RELAY_BATCH=2\nOTHER=x\n")
    monkeypatch.setenv("CLARION_PORT", "3")
    monkeypatch.setenv("CLARION_POOL_SIZE", "3")
    settings = load(port=4)
    assert (settings.port, settings.pool_size, settings.relay_batch, settings.host) == (4, 3, 2, "toml")


def test_the_toml_file_may_stand_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text("port = 9\n")
    monkeypatch.setenv("CLARION_CONFIG", str(tmp_path / "other.toml"))
    assert load().port == 9


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLARION_PORT", "")
    assert load().port == 8500


def test_an_unknown_variable_is_refused_with_the_closest_name_and_all_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLARION_PROT", "1")
    message = refusal()
    assert message.startswith("CLARION_PROT (environment) is not a setting: did you mean CLARION_PORT?")
    for field in Settings.model_fields:
        assert f"CLARION_{field.upper()}" in message


def test_an_unknown_name_in_dotenv_toml_or_arguments_is_refused(tmp_path: Path) -> None:
    assert refusal(prot=1).startswith("prot (argument) is not a setting: did you mean port?")
    (tmp_path / "clarion.toml").write_text("prot = 1\n")
    assert refusal().startswith("prot (clarion.toml) is not a setting")
    (tmp_path / "clarion.toml").unlink()
    (tmp_path / ".env").write_text("CLARION_PROT=1\n")
    assert refusal().startswith("CLARION_PROT (.env) is not a setting")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("CLARION_PORT", "99999", "less than or equal to 65535"),
        ("CLARION_PORT", "http", "valid integer"),
        ("CLARION_PERSON_KEY", "int", "'bigint', 'uuid' or 'text'"),
        ("CLARION_SCHEMA_NAME", 'x"; DROP', "plain lower-case identifier"),
        ("CLARION_LOG_LEVEL", "loud", "'debug', 'info', 'warning' or 'error'"),
        ("CLARION_PUBLIC_URL", "ftp://x", "http:// or https://"),
        ("CLARION_RELAY_POLL_SECONDS", "0", "greater than 0"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str
) -> None:
    monkeypatch.setenv(name, value)
    message = refusal()
    assert message.startswith(f"{name}={value} (environment): ")
    assert allowed in message


def test_all_wrong_values_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLARION_PORT", "x")
    monkeypatch.setenv("CLARION_POOL_SIZE", "0")
    assert [line.partition("=")[0] for line in refusal().splitlines()] == [
        "CLARION_PORT",
        "CLARION_POOL_SIZE",
    ]


@pytest.mark.parametrize("scheme", ["sqlite", "mysql", "postgresql+psycopg"])
def test_another_database_is_refused_without_showing_its_password(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setenv("CLARION_DATABASE_URL", f"{scheme}://ada:hush@host/db")
    message = refusal()
    assert message.startswith(
        f"CLARION_DATABASE_URL (environment): Clarion needs PostgreSQL 15 or newer, not '{scheme}'"
    )
    assert "hush" not in message


@pytest.mark.parametrize("url", ["postgresql://ada@host/db", "postgres://host"])
def test_a_postgresql_url_is_taken_as_it_is(url: str) -> None:
    assert load(database_url=url).database_url == url


def test_secrets_may_stand_in_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("hush\n")
    (tmp_path / "url").write_text("postgresql://ada:hush@host/db\n")
    monkeypatch.setenv("CLARION_API_KEY_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("CLARION_DATABASE_URL_FILE", str(tmp_path / "url"))
    settings = load()
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == "hush"
    assert settings.database_url == "postgresql://ada:hush@host/db"
    assert "hush" not in repr(settings)


def test_a_secret_given_twice_or_in_no_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLARION_API_KEY_FILE", str(tmp_path / "none"))
    assert refusal().startswith("CLARION_API_KEY_FILE=")
    (tmp_path / "none").write_text("hush")
    monkeypatch.setenv("CLARION_API_KEY", "hush")
    assert refusal() == "CLARION_API_KEY and CLARION_API_KEY_FILE (environment) are both set: keep one"


def test_a_broken_or_missing_toml_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "clarion.toml").write_text("port = \n")
    assert refusal().startswith("clarion.toml is not TOML: ")
    monkeypatch.setenv("CLARION_CONFIG", "gone.toml")
    assert refusal().startswith("CLARION_CONFIG=gone.toml: the file cannot be read")


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load().port = 1
