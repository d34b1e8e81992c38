"""The machine's relays: one or two, in batches and chunks of any size, dying or failing at any point."""

from datetime import timedelta
from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from clarion.content import posts, threads
from clarion.inbox import choices
from clarion.model.inbox import WatchLevel
from property.driver import HARBOR
from property.machine import Machine, people, texts
from support.barriers import POINTS, Died
from support.model_facts import Text

MOST_FAULTS = 3
"""Fewer than the attempts after which an event is set aside."""

batches = st.integers(1, 6)
chunks = st.integers(2, 5)
points = st.sampled_from(POINTS)


class RelayRules(Machine):
    """How what is due is handled."""

    @initialize(watching=st.sets(people, min_size=2), author=people, other=people, text=texts)
    def some_have_heard(self, watching: set[int], author: int, other: int, text: Text) -> None:
        """An example begins where there is something to read, to mark and to take back."""
        for person in sorted(watching):
            command = choices.watch(person, HARBOR, WatchLevel.ALL)
            self.driver.mark(person, command, partial(self.oracle.watch, person, HARBOR, "all"))
        self.driver.do(
            threads.open_thread("i0", space=HARBOR, kind="pull_request", title="T", body=str(text), author=author),
            lambda: self.oracle.open_thread("i0", HARBOR, author, text),
        )
        self.driver.do(
            posts.add_comment("c0", thread="i0", body=str(Text()), author=other),
            lambda: self.oracle.comment("c0", "i0", other, Text()),
        )
        self.driver.settle()

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
