"""The rules of the judgement, in the order in which `why` tells them, with the words for each (W16)."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["passed", "stopped", "not reached"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One named boolean column of the judgement: what it means when it holds and when it stops somebody."""

    column: str
    rule: str
    holds: str
    stops: str
    remedy: str


RULES = (
    Rule("is_active", "W8", "is active", "is not active", "activate the person"),
    Rule(
        "is_not_own",
        "W6",
        "did not do it",
        "did it: nobody hears of their own activity",
        "opt in to one's own activity",
    ),
    Rule("is_not_ignoring", "W7", "does not ignore the space", "ignores the space", "watch it at another level"),
    Rule("can_read", "W8", "can read it", "cannot read it", "give access to the space"),
    Rule("is_not_blocked", "W8", "has no block with the actor", "has a block with the actor", "lift the block"),
    Rule("is_not_muted", "W8", "is named, or has not muted the actor", "has muted the actor", "unmute the actor"),
    Rule(
        "is_not_unsubscribed",
        "W10",
        "is named, or has not unsubscribed",
        "has unsubscribed from the thread",
        "subscribe to the thread",
    ),
    Rule("wants_housekeeping", "W14", "wants to hear of this kind", "does not hear of housekeeping", "opt in to it"),
    Rule("is_news", "W12", "was not told of this post before", "was told of this post already", ""),
    Rule("is_not_read", "I5", "had not read it yet", "had read it on the page before it was handled", ""),
)
"""All of them must hold; the columns are those of `judged` in notifier.sql."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One rule as it stands for one person now."""

    rule: str
    column: str
    verdict: Verdict
    words: str


@dataclass(frozen=True, slots=True)
class Why:
    """What was recorded of an event for a person, and what the rules say now; labelled as such."""

    event: int
    type: str
    state: str
    outcome: str | None
    recorded: tuple[str, ...]
    reasons: tuple[str, ...]
    now: tuple[Judgement, ...]
    hears_now: bool
    sentence: str
