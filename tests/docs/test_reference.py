"""The reference says what the code says: nothing is missing in it, nothing in it is old."""

from pathlib import Path

import pytest

from clarion.api.errors import CODES
from clarion.config import PREFIX, SECRETS, Settings
from clarion.model.event import OWN_TYPES, Effect
from clarion.model.reasons import Reason
from clarion.model.rules import RULES
from docs import made_of_code, made_of_doors
from docs.generate import DOCS, ROOT, SECTIONS, pages, parts, renewed

REFERENCE = "\n".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "reference").glob("*.md")))


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_generated_part_is_as_the_code_has_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert renewed(text) == text, "run `make docs`"


def test_every_part_stands_on_one_page() -> None:
    assert sorted(name for page in pages() for name in parts(page.read_text(encoding="utf-8"))) == sorted(SECTIONS)


def test_every_setting_is_named() -> None:
    names = [f"{PREFIX}{name.upper()}" for name in Settings.model_fields]
    _named([*names, *(f"{PREFIX}{name.upper()}_FILE" for name in SECRETS), "CLARION_CONFIG"])


def test_every_error_is_named() -> None:
    classes = made_of_doors.error_classes()
    _named([*(each.__name__ for each in classes), *(each.code for each in classes), *CODES.values()])
    codes = [each.code for each in classes]
    assert len(set(codes)) == len(codes), "a code is one error's"


def test_every_event_type_and_effect_is_named() -> None:
    _named([*OWN_TYPES, *(effect.value for effect in Effect)])


def test_every_reason_and_rule_is_named() -> None:
    _named([*Reason, *(rule.column for rule in RULES), *(rule.rule for rule in RULES)])


def test_every_table_and_each_of_its_columns_is_named() -> None:
    for name, each in made_of_code.all_tables().items():
        _named([name, *each.columns])
    assert len(made_of_code.all_tables()["outbox_event"].columns) == 19


def test_every_route_is_named() -> None:
    _named([path for _, path, _ in made_of_doors.all_routes()])


def test_every_command_is_named() -> None:
    _named(list(made_of_doors.all_commands()))


def test_every_metric_is_named() -> None:
    _named([metric.name for metric in made_of_doors.all_metrics()])


def _named(names: list[str]) -> None:
    missing = [name for name in names if name not in REFERENCE]
    assert not missing, "name it in docs/reference"
