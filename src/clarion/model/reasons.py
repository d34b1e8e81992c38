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
"""Each reason as the inbox says it to the person."""

OF_SOMEBODY = {
    Reason.ASSIGNED: "was assigned",
    Reason.REVIEW_REQUESTED: "was asked for a review",
    Reason.MENTIONED: "was mentioned",
    Reason.ADDRESSED: "was addressed",
    Reason.TEAM_MENTIONED: "is in a team that was mentioned",
    Reason.AUTHOR: "opened the thread",
    Reason.SUBSCRIBED: "follows the thread",
    Reason.WATCHING: "watches the space",
    Reason.OCCASION: "follows the occasion",
}
"""Each reason as `why` says it of somebody."""
