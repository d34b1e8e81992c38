"""How long to wait: before the next attempt, and before looking again. Pure."""

from random import Random

RETRY_SECONDS = (1.0, 5.0, 30.0, 120.0, 600.0)
"""Before the second, third, … attempt: an outage of minutes is outlasted, one of hours is set aside (O6)."""

LOOK_AGAIN_SECONDS = (0.001, 0.003, 0.010, 0.030, 0.100, 0.300)
"""After a signal that found nothing: the commit may be on its way (O8)."""

BUSY_SECONDS = 0.05
"""For an event whose thread another relay holds; no attempt."""

RECONNECT_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Between tries to reach a database that went away."""


def retry_delay(attempts: int, random: Random) -> float:
    """Return the seconds until the next attempt after so many, with a jitter of ± 20 %."""
    return RETRY_SECONDS[min(attempts, len(RETRY_SECONDS)) - 1] * random.uniform(0.8, 1.2)


def reconnect_delay(tries: int) -> float:
    """Return the seconds before connecting again after so many failures."""
    return RECONNECT_SECONDS[min(tries, len(RECONNECT_SECONDS)) - 1]
