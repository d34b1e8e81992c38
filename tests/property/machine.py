"""What every part of the machine shares: what can be drawn, and the comparison after each step."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from property.driver import HARBOR, PEOPLE, VAULT, Driver
from support.model_facts import Text
from support.model_inbox import Oracle

people = st.sampled_from(sorted(PEOPLE))
pairs = st.tuples(people, people).filter(lambda pair: pair[0] != pair[1])
spaces = st.sampled_from([HARBOR, VAULT])
handles = st.sampled_from([*PEOPLE.values(), "zed", "yan"])
texts = st.builds(
    Text,
    handles=st.lists(handles, max_size=2, unique=True).map(tuple),
    team=st.sampled_from([False, False, True]),
    in_code=st.lists(handles, max_size=1).map(tuple),
    salt=st.integers(0, 2),
)


class Machine(RuleBasedStateMachine):
    """A product and its oracle; its parts add what can happen."""

    def __init__(self, driver: Driver) -> None:
        super().__init__()
        self.driver = driver
        self.count = 0
        self.faults = 0
        driver.start()

    @invariant()
    def both_sides_agree(self) -> None:
        """After every step."""
        self.driver.check()

    def teardown(self) -> None:
        """Nothing is lost: in the end everything is handled, and the lists are what the badges say."""
        self.driver.settle()
        self.driver.check()
        self.driver.check_lists()

    @property
    def oracle(self) -> Oracle:
        """What must be."""
        return self.driver.oracle

    def new_key(self, kind: str) -> str:
        """A key that nothing has yet."""
        self.count += 1
        return f"{kind}{self.count}"

    def living(self, *, in_space: bool = True) -> list[str]:
        """Threads that are not deleted, latest last."""
        contents = self.oracle.content.values()
        return [each.key for each in contents if not each.deleted and (each.space is not None or not in_space)]

    def known(self) -> list[str]:
        """Threads that Clarion has heard of."""
        return list(self.oracle.threads)

    def draw(self, data: Any, keys: list[str]) -> str:
        """One of some keys, most likely the latest."""
        return str(data.draw(st.sampled_from(keys[::-1])))
