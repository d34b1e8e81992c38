"""How long to wait: before the next attempt, and before looking again. Pure."""

from datetime import UTC, datetime
from random import Random

RETRY_SECONDS = (1.0, 10.0, 60.0, 600.0)
"""Before the second to the fifth attempt: an outage of minutes is outlasted, one of hours is set aside (O6)."""

LOOK_AGAIN_SECONDS = (0.001, 0.003, 0.010, 0.030, 0.100, 0.300)
"""After a signal that found nothing: the commit may be on its way (O8)."""

LATER_SECONDS = 0.01
"""The least that an event is put off for: what is put off for nothing would be claimed again without end."""

TRANSIENT_SECONDS = (0.01, 0.1)
"""After a deadlock or a serialisation failure: a moment that differs from the other side's."""

RECONNECT_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Between tries to reach a database that went away."""

CLAIMS_FROM_LOWEST = 20
"""After so many claims the next starts from the beginning: a row that became due earlier is met (ENGINE, 3)."""

REWIND_SECONDS = 0.1
"""A claim that found nothing sends the next one to the beginning, at most once in so long."""

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


def retry_delay(attempts: int, random: Random) -> float:
    """Return the seconds until the next attempt after so many, with a jitter of ± 20 %."""
    return RETRY_SECONDS[max(0, min(attempts, len(RETRY_SECONDS)) - 1)] * random.uniform(0.8, 1.2)


def reconnect_delay(tries: int) -> float:
    """Return the seconds before connecting again after so many failures."""
    return RECONNECT_SECONDS[max(0, min(tries, len(RECONNECT_SECONDS)) - 1)]


class Start:
    """Where in the queue a claim starts: the lowest due row of the last one, and often enough the beginning.

    What lies below was settled, mostly, and would be read again at each claim for as long as an old snapshot
    somewhere keeps it from being cleaned away. What commits late with a lower due time is met from the beginning:
    at the next claim after one that found nothing, and under load after `CLAIMS_FROM_LOWEST` claims.
    """

    def __init__(self) -> None:
        self._lowest = BEGINNING
        self._claims = 0
        self._rewound_at = float("-inf")
        self._rewind = True

    def rewind(self) -> None:
        """Make the next claim start from the beginning."""
        self._rewind = True

    def next(self, at: float) -> datetime:
        """Return the due time that the claim made at this moment of a monotonic clock starts from."""
        if self._rewind or self._claims >= CLAIMS_FROM_LOWEST:
            self._rewind, self._claims, self._rewound_at = False, 0, at
            return BEGINNING
        self._claims += 1
        return self._lowest

    def found(self, lowest: datetime | None, at: float) -> None:
        """Take in what the claim found: its lowest due time, or nothing."""
        if lowest is not None:
            self._lowest = lowest
        elif at - self._rewound_at >= REWIND_SECONDS:
            self._rewind = True
