from collections.abc import Iterator

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from property.driver import Driver
from property.machine_content import AccessRules, ContentRules
from property.machine_inbox import ChoiceRules, MarkRules
from property.machine_relays import RelayRules


class Engine(ContentRules, AccessRules, MarkRules, ChoiceRules, RelayRules):
    """Everything at once."""


@pytest.fixture
def driver(database_url: str) -> Iterator[Driver]:
    with Driver(database_url) as driver:
        yield driver


@pytest.mark.parametrize("share", range(2))
def test_engine(driver: Driver, share: int) -> None:
    run_state_machine_as_test(
        lambda: Engine(driver), settings=settings(max_examples=30, stateful_step_count=25, deadline=None, database=None)
    )
