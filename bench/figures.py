"""What a case returns, how pairs are measured, and how all of it is shown."""

import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Side = Callable[[], Awaitable[float]]
"""One run of one side; returns its seconds."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a ratio is to reach: at least so much, or at most."""

    bound: float
    at_most: bool = False

    def __str__(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {self.bound:g}"

    def met_by(self, figure: float) -> bool:
        """Whether the figure reaches it."""
        return figure <= self.bound if self.at_most else figure >= self.bound


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table: Clarion beside its baseline, and what the goal says of their ratio."""

    case: str
    what: str
    unit: str
    ours: float
    baseline: float | None = None
    ratio: float | None = None
    """None where the goal is about `ours` itself."""
    goal: Goal | None = None
    more: dict[str, Any] = field(default_factory=dict)
    """Exact counters and whatever else is worth keeping; written to the file only."""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        if self.goal is None:
            return None
        return self.goal.met_by(self.ours if self.ratio is None else self.ratio)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Seconds of interleaved runs, one list a side; the first side is ours."""

    sides: Sequence[Sequence[float]]

    def __add__(self, later: "Pairs") -> "Pairs":
        return Pairs([[*one, *other] for one, other in zip(self.sides, later.sides, strict=True)])

    def median(self, side: int) -> float:
        """Return one side's median seconds."""
        return statistics.median(self.sides[side])

    def speed(self, of: int, beside: int) -> float:
        """Return how fast one side is beside another: the median of the pairs' ratios."""
        return statistics.median(b / a for a, b in zip(self.sides[of], self.sides[beside], strict=True))


async def interleave(rounds: int, *sides: Side, first: int = 0) -> Pairs:
    """Run the sides in turn, so many rounds, each round beginning with another side."""
    seconds: list[list[float]] = [[] for _ in sides]
    for number in range(first, first + rounds):
        for offset in range(len(sides)):
            side = (number + offset) % len(sides)
            seconds[side].append(await sides[side]())
    return Pairs(seconds)


def show(figures: Sequence[Figure]) -> str:
    """Return the table."""
    head = ("case", "what", "unit", "ours", "baseline", "ratio", "goal", "met?")
    lines = [
        (
            figure.case,
            figure.what,
            figure.unit,
            _number(figure.ours),
            _number(figure.baseline),
            "" if figure.ratio is None else f"{figure.ratio:.2f}",
            "" if figure.goal is None else str(figure.goal),
            {None: "", True: "yes", False: "NO"}[figure.met],
        )
        for figure in figures
    ]
    widths = [max(len(line[column]) for line in (head, *lines)) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if 3 <= column <= 5 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (head, *lines)
    )


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
