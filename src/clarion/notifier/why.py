"""Why somebody hears, or does not: the same judgement as the writer's, shown for one person (W16)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clarion.model.errors import NotFound
from clarion.model.event import Event
from clarion.model.keys import Key
from clarion.model.reasons import OF_SOMEBODY, Reason
from clarion.model.rules import RULES, Judgement, Why
from clarion.notifier.handler import Notifier
from clarion.notifier.places import Place
from clarion.notifier.telling import TOLD, Tale, judgement, make_tales
from clarion.store.database import Row, Session

EVENT_FIELDS = tuple(Event.__dataclass_fields__)


async def why(session: Session, notifier: Notifier, event_id: int, person: Key) -> Why:
    """Return what was recorded of the event for the person, and what the rules say now.

    Transaction: the caller's; reads only, locks nothing. Raises: `NotFound` for an event that is not there.
    """
    rows = await session.fetch("get_event", event=event_id)
    if not rows:
        raise NotFound(f"there is no event {event_id}: it was never published, was rolled back, or is pruned")
    event = Event(**{name: rows[0][name] for name in EVENT_FIELDS})
    who = (await session.fetch("get_handle", person=person))[0]["handle"] or str(person)
    tale = await _tale(session, notifier, event)
    recorded = await _recorded(session, tale, event, person)
    judged = await _judge(session, tale, person) if tale else None
    now = _verdicts(judged) if judged else ()
    return Why(
        event=event.id,
        type=event.type,
        state=rows[0]["state"],
        outcome=rows[0]["outcome"] or rows[0]["last_error"],
        recorded=recorded,
        reasons=(judged["reason"],) if judged else (),
        now=now,
        hears_now=bool(now) and all(verdict.verdict == "passed" for verdict in now),
        sentence=_sentence(who, event, tale, judged, now),
    )


async def judge_everybody(session: Session, notifier: Notifier, event: Event, people: Sequence[Key]) -> list[Row]:
    """Return the judgement's columns for these people, in the database's order; for tests and the control room."""
    tale = await _tale(session, notifier, event)
    if tale is None:
        return []
    return await session.fetch("judge_person", **judgement([tale], await _posts(session, tale)), people=list(people))


async def _tale(session: Session, notifier: Notifier, event: Event) -> Tale | None:
    """Return the event as it would be told now, to everybody from the beginning; nothing is locked."""
    if event.effect not in TOLD:
        return None
    happening = (await notifier.resolve(session, [event])).get(event.id)
    if happening is None:
        return None
    stubs = await session.fetch("find_threads", keys=[happening.thread])
    place = Place(stubs[0]["id"] if stubs else 0, happening.space)
    tales, _ = await make_tales(session, [(replace(event, cursor=None), happening, place)])
    tales[0].announced = False
    return tales[0]


async def _posts(session: Session, tale: Tale) -> dict[str, tuple[int, int]]:
    rows = await session.fetch("find_posts", keys=[part.post for part in tale.parts])
    return {row["key"]: (row["id"], row["position"]) for row in rows}


async def _judge(session: Session, tale: Tale, person: Key) -> Row | None:
    rows = await session.fetch("judge_person", **judgement([tale], await _posts(session, tale)), people=[person])
    return rows[0] if rows else None


async def _recorded(session: Session, tale: Tale | None, event: Event, person: Key) -> tuple[str, ...]:
    thread = tale.happening.thread if tale else event.thread_key
    rows = await session.fetch("recorded", thread=thread, post=tale.parts[0].post if tale else None, person=person)
    return tuple(row["said"] for row in rows) or ("nothing is recorded for this person in this thread",)


def _verdicts(judged: dict[str, Any]) -> tuple[Judgement, ...]:
    verdicts = []
    stopped = False
    for rule in RULES:
        if stopped:
            verdicts.append(Judgement(rule.rule, rule.column, "not reached", rule.holds))
        elif judged[rule.column]:
            verdicts.append(Judgement(rule.rule, rule.column, "passed", rule.holds))
        else:
            stopped = True
            verdicts.append(Judgement(rule.rule, rule.column, "stopped", rule.stops))
    return tuple(verdicts)


def _sentence(who: str, event: Event, tale: Tale | None, judged: Row | None, now: Sequence[Judgement]) -> str:
    if event.effect not in TOLD:
        return f"Nobody hears of {event.type}: it takes back, hides or wakes what others have told."
    if tale is None:
        return f"Nobody hears of event {event.id} any more: what it tells of is gone."
    if judged is None:
        return f"{who} does not hear of it: not named in it, and follows neither the thread nor the space."
    because = f"{who} {OF_SOMEBODY[Reason(judged['reason'])]}"
    stop = next((verdict for verdict in now if verdict.verdict == "stopped"), None)
    if stop and stop.column == "is_news":
        return f"{who} has heard of it, because {because}."
    if stop:
        remedy = next(rule.remedy for rule in RULES if rule.column == stop.column)
        return f"{who} {stop.words} ({stop.rule})" + (f"; to change that, {remedy}." if remedy else ".")
    return f"{who} hears of it, because {because}."
