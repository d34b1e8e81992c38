"""What becomes of claimed events: settled, charged with a failure, or taken singly after a death.

Everything here happens in the relay's transaction, under the row locks of its claim.
"""

from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Any

import structlog

from clarion.model.event import MAX_ATTEMPTS, Continued, Done, Event, Handled, Later, Outcome, Skipped
from clarion.store.database import Session
from clarion.work.delays import LATER_SECONDS, retry_delay
from clarion.work.tally import Tally

log = structlog.get_logger("clarion.relay")


async def settle(main: Session, outcomes: Mapping[int, Outcome]) -> None:
    """Write what became of the events that a consumer names. Cost: one statement."""
    if not outcomes:
        return
    kinds: dict[tuple[str, str | None, float, str | None], int] = {}
    ids = sorted(outcomes)
    await main.fetch(
        "settle_events",
        ids=ids,
        kinds=[kinds.setdefault(_columns(outcomes[event]), len(kinds) + 1) for event in ids],
        states=[kind[0] for kind in kinds],
        outcomes=[kind[1] for kind in kinds],
        delays=[kind[2] for kind in kinds],
        cursors=[kind[3] for kind in kinds],
    )


def check(handled: Handled, events: Collection[Event]) -> None:
    """Refuse what would turn the relay in circles, or settle what it does not hold. Raises: `ValueError`."""
    mine = {event.id for event in events}
    if not handled.outcomes:
        raise ValueError("the consumer named none of the events it was handed")
    if strange := sorted(set(handled.outcomes) - mine):
        raise ValueError(f"the consumer named events that it was not handed: {strange}")


async def charge(main: Session, event: Event, error: str, tally: Tally, random: Random) -> None:
    """Count an attempt and put the event off, or aside after the fifth (O6)."""
    tally.count(tally.failed, event.type)
    rows = await main.fetch(
        "charge_event",
        event=event.id,
        attempts=event.attempts,
        error=error,
        delay=retry_delay(event.attempts + 1, random),
        max_attempts=MAX_ATTEMPTS,
    )
    if rows and rows[0]["state"] == "set_aside":
        log.error("event set aside", event_id=event.id, type=event.type, error=error)
        tally.count(tally.settled, (event.type, "set_aside"))


async def bury(
    main: Session, dead: Sequence[Mapping[str, Any]], events: Sequence[Event], tally: Tally, random: Random
) -> None:
    """Have what dead relays held taken one by one; a death alone is an attempt, no other (O6)."""
    held = {event.id: event for event in events}
    for note in dead:
        tally.deaths += 1
        log.warning("a relay died", relay=note["relay"], event_ids=note["events"])
        if len(note["events"]) == 1:
            error = f"the relay {note['relay']} died while it handled this event alone"
            await charge(main, held[note["events"][0]], error, tally, random)
        else:
            await main.fetch("set_alone", events=note["events"])
    await main.fetch("delete_notes", notes=[note["id"] for note in dead])


def describe(error: BaseException) -> str:
    """Return an error as text that any column takes, whatever its `__str__` does."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - a stranger's code; its type says enough
        text = type(error).__name__
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _columns(outcome: Outcome) -> tuple[str, str | None, float, str | None]:
    match outcome:
        case Done(text):
            return "done", text or None, 0.0, None
        case Skipped(why):
            return "skipped", why, 0.0, None
        case Later(seconds, why):
            return "waiting", why or None, max(seconds, LATER_SECONDS), None
        case Continued(cursor):
            return "waiting", None, 0.0, str(cursor)
