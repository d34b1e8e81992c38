"""The notifier: the outbox's first consumer. A batch goes through one order of locks and one judgement.

Spaces, threads, then the rows as they are (resolvers), then everybody who may be concerned, locked in one order;
then judging and writing in a fresh snapshot (ENGINE, 2 and 3). At most `CHUNK_PEOPLE` people a transaction.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from clarion.model.errors import WrongKey
from clarion.model.event import OWN_TYPES, Continued, Done, Effect, Event, Handled, Later, Outcome, Skipped, effect_of
from clarion.model.happening import Happening, Resolver
from clarion.model.keys import Key, KeyType, parse_key
from clarion.notifier.places import Place, known_threads, lock_places, share_space
from clarion.notifier.taking import Taking, reach, take
from clarion.notifier.telling import TOLD, Tale, find_candidates, make_tales, tell
from clarion.outbox.publish import NewEvent, publish
from clarion.store.database import Session

CHUNK_PEOPLE = 2000
"""The most people that one transaction locks: a mark-read waits some milliseconds, not a second (ENGINE, 3)."""

BUSY_SECONDS = 0.05
"""How long an event goes back for when another relay holds its thread; no attempt."""

UNRESOLVED = frozenset({Effect.DELETE, Effect.ACCESS, Effect.WAKE})
"""What is handled by key, from Clarion's own rows (O2)."""

Task = Tale | Taking


class _Unlocked(Exception):
    """Somebody has no inbox yet."""


class Notifier:
    """Tells the right people, for a stated reason, exactly once."""

    name = "notifier"

    def __init__(
        self,
        resolvers: Mapping[str, Resolver],
        person_key: KeyType,
        *,
        chunk_people: int = CHUNK_PEOPLE,
        barrier: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._resolvers = resolvers
        self._person_key: KeyType = person_key
        self._chunk_people = chunk_people
        self._barrier = barrier
        self._types = frozenset(resolvers) | {name for name, effect in OWN_TYPES.items() if effect in UNRESOLVED}

    def types(self) -> Collection[str]:
        """Return the event types that there is a resolver for, and those that need none."""
        return self._types

    async def handle(self, session: Session, events: Sequence[Event]) -> Handled:
        """Apply the events in the relay's transaction. Raises: what a resolver or the database raises."""
        outcomes: dict[int, Outcome] = {}
        known = await known_threads(session, events)
        first = await self.resolve(session, [event for event in events if event.thread_key not in known])
        places = await lock_places(session, events, known, first.values())
        overtaking = await self._overtaking(session, events)
        held: list[Event] = []
        for event in events:
            key = first[event.id].thread if event.id in first else event.thread_key
            if key in places.busy:
                outcomes[event.id] = Later(BUSY_SECONDS, "its thread is busy")
            elif event.id in overtaking:
                outcomes[event.id] = Later(BUSY_SECONDS, "an earlier event of its thread waits")
            else:
                held.append(event)
        happenings = await self.resolve(session, held)
        tales, takings = await self._tasks(session, held, happenings, places.threads, outcomes)
        chosen = await self._choose(session, tales, takings, outcomes)
        self._barrier("candidates")
        people = await self._lock(session, [task for task, _, _ in chosen], [part for _, part, _ in chosen])
        self._barrier("locked")
        told = [task for task, _, _ in chosen if isinstance(task, Tale)]
        notified = await tell(session, told, people) if told else {}
        for task, part, last in chosen:
            if isinstance(task, Taking):
                await take(session, task, part, last=last)
            outcomes[task.event.id] = Done() if last else Continued(part[-1])
        await session.fetch(
            "forget_read_ahead", events=[event for event, outcome in outcomes.items() if outcome == Done()]
        )
        self._barrier("written")
        return Handled(outcomes, notified)

    async def resolve(self, session: Session, events: Sequence[Event]) -> dict[int, Happening]:
        """Ask the resolvers what happened, from the rows as they are; one call for each type."""
        by_type: dict[str, list[Event]] = {}
        for event in events:
            if event.type in self._resolvers:
                by_type.setdefault(event.type, []).append(event)
        happenings: dict[int, Happening] = {}
        for name, same in by_type.items():
            happenings.update(await self._resolvers[name](session, same))
        return happenings

    async def _overtaking(self, session: Session, events: Sequence[Event]) -> set[int]:
        """Return the events that come before an earlier one of their thread, which another relay holds (O12)."""
        told = [name for name in self._types if effect_of(name) in TOLD]
        rows = await session.fetch(
            "find_overtaking",
            events=[event.id for event in events],
            keys=[event.thread_key for event in events],
            consumer=self.name,
            types=told,
        )
        return {row["event"] for row in rows}

    async def _tasks(
        self,
        session: Session,
        events: Sequence[Event],
        happenings: Mapping[int, Happening],
        threads: Mapping[str, Place],
        outcomes: dict[int, Outcome],
    ) -> tuple[list[Tale], list[Taking]]:
        happened: list[tuple[Event, Happening, Place]] = []
        takings: list[Taking] = []
        for event in events:
            happening = happenings.get(event.id)
            place = threads.get(happening.thread if happening else event.thread_key or "")
            if event.effect in UNRESOLVED:
                takings.append(Taking(event, place, person=self._person(event)))
            elif happening is None:
                outcomes[event.id] = Skipped("what it tells of is gone")
            elif place is None:
                outcomes[event.id] = Later(BUSY_SECONDS, "its thread has just changed")
            elif event.effect in TOLD:
                happened.append((event, happening, await self._follow(session, happening, place)))
            else:
                if happening.space is not None and happening.space != place.space:
                    await share_space(session, happening.space)
                takings.append(Taking(event, place, happening))
        tales, repeats = await make_tales(session, happened)
        for event_id, leader in repeats.items():
            outcomes[event_id] = Done(f"told with event {leader}")
        for tale in tales:
            if tale.told_before:
                outcomes[tale.event.id] = Done("told already")
        return [tale for tale in tales if not tale.told_before], takings

    async def _follow(self, session: Session, happening: Happening, place: Place) -> Place:
        """Keep up with a thread whose rows say that it is in another space than its stub: nobody published the move."""
        if happening.space == place.space:
            return place
        if happening.space is not None:
            await share_space(session, happening.space)
        await session.fetch("move_thread", thread=place.thread, space=happening.space)
        await session.run(publish(NewEvent(type="thread.moved", thread=happening.thread)))
        return Place(place.thread, happening.space)

    async def _choose(
        self, session: Session, tales: Sequence[Tale], takings: Sequence[Taking], outcomes: dict[int, Outcome]
    ) -> list[tuple[Task, Sequence[Key], bool]]:
        """Return the tasks that fit into one transaction, each with its people and whether these are the last of them.

        Those left out stay claimable. A task too large for any transaction comes alone, with its first people.
        """
        await find_candidates(session, tales, self._chunk_people + 1)
        tasks: list[tuple[Task, Sequence[Key]]] = [(tale, tale.candidates) for tale in tales]
        going = [one.event.post_key for one in takings if one.event.effect is Effect.DELETE and one.event.post_key]
        for taking in takings:
            people = await reach(session, taking, self._chunk_people + 1, going)
            if people is None:
                outcomes[taking.event.id] = Skipped("nothing of it is known here")
            else:
                tasks.append((taking, people))
        chosen: list[tuple[Task, Sequence[Key], bool]] = []
        union: set[Key] = set()
        for task, people in sorted(tasks, key=lambda pair: pair[0].event.id):
            more = union | set(people)
            if len(more) <= self._chunk_people:
                union = more
                chosen.append((task, people, True))
            elif not chosen:
                return [(task, people[: self._chunk_people], False)]
            else:
                break
        return chosen

    async def _lock(self, session: Session, tasks: Sequence[Task], parts: Sequence[Sequence[Key]]) -> list[Key]:
        """Lock everybody concerned, in the database's order of keys; return them in that order.

        Somebody met for the first time has no row to lock: then the locks taken are let go, so that the row is made
        and all are locked in one order.
        """
        if not tasks:
            return []
        people = list({person for part in parts for person in part})
        with suppress(_Unlocked):
            async with session.transaction():
                locked = await session.fetch("lock_people", people=people)
                if len(locked) < len(people):
                    raise _Unlocked
            return [row["person"] for row in locked]
        await session.fetch("ensure_inboxes", people=people)
        return [row["person"] for row in await session.fetch("lock_people", people=people)]

    def _person(self, event: Event) -> Key | None:
        if (value := event.keys.get("person")) is None:
            return None
        try:
            return parse_key(value, self._person_key)
        except WrongKey:
            return None
