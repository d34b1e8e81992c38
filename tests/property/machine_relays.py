"""The machine's relays: one or two, in batches and chunks of any size, dying or failing at any point."""

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from property.machine import Machine
from support.barriers import POINTS, Died

MOST_FAULTS = 3
"""Fewer than the attempts after which an event is set aside."""

batches = st.integers(1, 6)
chunks = st.integers(2, 5)
points = st.sampled_from(POINTS)


class RelayRules(Machine):
    """How what is due is handled."""

    @rule(batch=batches, chunk=chunks)
    def relay(self, batch: int, chunk: int) -> None:
        self.driver.relay(batch=batch, chunk=chunk)

    @rule(batch=batches, chunk=chunks, point=points)
    def two_relays(self, batch: int, chunk: int, point: str) -> None:
        self.driver.relays(batch=batch, chunk=chunk, point=point)

    @precondition(lambda self: self.faults < MOST_FAULTS)
    @rule(batch=batches, chunk=chunks, point=points, dies=st.booleans())
    def a_relay_ends_badly(self, batch: int, chunk: int, point: str, dies: bool) -> None:
        self.faults += 1
        fault = Died() if dies or point == "after commit" else RuntimeError("no more")
        self.driver.relay(batch=batch, chunk=chunk, point=point, fault=fault)

    @rule()
    def settle(self) -> None:
        self.driver.settle()
        self.driver.check()
        self.driver.check_lists()

    @rule(seconds=st.integers(1, 4))
    def time_passes(self, seconds: int) -> None:
        self.driver.wait(timedelta(seconds=seconds))
