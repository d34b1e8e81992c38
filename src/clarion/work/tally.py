"""What a relay did since it started, as plain counters; doors show them as metrics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Tally:
    """Counters of one relay. They only grow."""

    batches: int = 0
    settled: dict[tuple[str, str], int] = field(default_factory=dict)
    """By event type and outcome: done, skipped, later, continued, set_aside."""
    notified: dict[str, int] = field(default_factory=dict)
    """Notifications written, by reason."""
    failed: dict[str, int] = field(default_factory=dict)
    """Attempts charged, by event type."""
    halved: int = 0
    """Batches that failed and were taken again at half the size."""
    deaths: int = 0
    """Notes of dead relays that this one came upon."""
    seconds: float = 0.0
    """Spent on batches, from claim to commit."""

    def count(self, counter: dict[Any, int], key: Any, by: int = 1) -> None:
        """Add to one counter."""
        counter[key] = counter.get(key, 0) + by

    def count_all(self, counter: dict[Any, int], amounts: Mapping[Any, int]) -> None:
        """Add several amounts to one counter."""
        for key, by in amounts.items():
            self.count(counter, key, by)
