"""Why a person hears, strongest first, in one place with the words for it."""

from enum import StrEnum


class Reason(StrEnum):
    """The reasons, strongest first (BEHAVIOUR, W); the database's enum has the same order."""

    ASSIGNED = "assigned"
    REVIEW_REQUESTED = "review_requested"
    MENTIONED = "mentioned"
    ADDRESSED = "addressed"
    TEAM_MENTIONED = "team_mentioned"
    AUTHOR = "author"
    SUBSCRIBED = "subscribed"
    WATCHING = "watching"
    OCCASION = "occasion"


DIRECT = frozenset({Reason.ASSIGNED, Reason.REVIEW_REQUESTED, Reason.MENTIONED, Reason.ADDRESSED})
"""Reasons that name the person: they outlast an unsubscribe (W10) and a mute (W8)."""

IN_WORDS = {
    Reason.ASSIGNED: "you were assigned",
    Reason.REVIEW_REQUESTED: "your review was asked for",
    Reason.MENTIONED: "you were mentioned",
    Reason.ADDRESSED: "it was addressed to you",
    Reason.TEAM_MENTIONED: "a team of yours was mentioned",
    Reason.AUTHOR: "you opened the thread",
    Reason.SUBSCRIBED: "you follow the thread",
    Reason.WATCHING: "you watch the space",
    Reason.OCCASION: "you follow the occasion",
}
"""Each reason in words, as the inbox and `why` say it."""
