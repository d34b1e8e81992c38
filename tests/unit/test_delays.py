"""The delays: growing, jittered, bounded; and where a claim starts."""

from datetime import timedelta
from random import Random

import pytest

from clarion.model.event import MAX_ATTEMPTS
from clarion.work.delays import (
    BEGINNING,
    CLAIMS_FROM_LOWEST,
    LOOK_AGAIN_SECONDS,
    RECONNECT_SECONDS,
    RETRY_SECONDS,
    REWIND_SECONDS,
    Start,
    reconnect_delay,
    retry_delay,
)

JITTER = Random(1)  # noqa: S311 - no secret
LOWEST = BEGINNING + timedelta(days=1)


def test_O6_there_is_a_delay_between_any_two_attempts_and_each_is_longer() -> None:
    assert len(RETRY_SECONDS) == MAX_ATTEMPTS - 1
    assert sorted(set(RETRY_SECONDS)) == list(RETRY_SECONDS)
    assert 300 <= 0.8 * sum(RETRY_SECONDS) <= 3600, "an outage of minutes is outlasted"


def test_O6_the_jitter_is_a_fifth_and_no_two_relays_agree() -> None:
    for attempts, seconds in enumerate(RETRY_SECONDS, start=1):
        delays = [retry_delay(attempts, JITTER) for _ in range(200)]
        assert 0.8 * seconds <= min(delays) < 0.85 * seconds
        assert 1.15 * seconds < max(delays) <= 1.2 * seconds


@pytest.mark.parametrize("attempts", [0, 1, 4, 5, 100])
def test_a_delay_is_there_for_any_count(attempts: int) -> None:
    assert 0.8 * RETRY_SECONDS[0] <= retry_delay(attempts, JITTER) <= 1.2 * RETRY_SECONDS[-1]
    assert RECONNECT_SECONDS[0] <= reconnect_delay(attempts) <= RECONNECT_SECONDS[-1]


def test_O8_looks_again_after_1_3_10_30_100_and_300_ms() -> None:
    assert [round(seconds * 1000) for seconds in LOOK_AGAIN_SECONDS] == [1, 3, 10, 30, 100, 300]


def test_O9_claims_start_at_the_lowest_row_of_the_last_and_every_so_often_at_the_beginning() -> None:
    start = Start()
    assert start.next(0.0) == BEGINNING
    starts = []
    for _ in range(2 * CLAIMS_FROM_LOWEST + 2):
        start.found(LOWEST, 0.0)
        starts.append(start.next(0.0))
    assert starts.count(BEGINNING) == 2
    assert starts.index(BEGINNING) == CLAIMS_FROM_LOWEST
    assert set(starts) == {BEGINNING, LOWEST}


def test_O9_a_claim_that_found_nothing_sends_the_next_to_the_beginning_but_not_too_often() -> None:
    start = Start()
    start.next(0.0)
    start.found(LOWEST, 0.0)
    start.found(None, REWIND_SECONDS / 2)
    assert start.next(REWIND_SECONDS / 2) == LOWEST
    start.found(None, REWIND_SECONDS)
    assert start.next(REWIND_SECONDS) == BEGINNING
    start.found(None, REWIND_SECONDS)
    assert start.next(REWIND_SECONDS) == LOWEST
    start.rewind()
    assert start.next(REWIND_SECONDS) == BEGINNING
