"""Roles in a thread: who is assigned, who is asked for review.

Kept here: an event names those whose role changed; what they hold is read from the rows when it is handled
(O12). A team that is asked means each of its present members, except the thread's author.
"""

from collections.abc import Iterable, Sequence

from clarion.content import limits
from clarion.content.access import require_people
from clarion.content.organisations import share_team
from clarion.content.outcome import RoleChange
from clarion.content.threads import lock_thread
from clarion.model.keys import Key
from clarion.outbox.publish import NewEvent, publish_many
from clarion.store.database import Command, Row
from clarion.store.queries import ask

PEOPLE_PER_EVENT = 50
"""How many people one event names, so that its keys stay within their limit."""


def assign(thread: str, people: Iterable[Key], *, actor: Key | None = None) -> Command[RoleChange]:
    """Assign people to a thread: `thread.assigned` for those who were not; nothing where all were.

    Transaction: the caller's. Raises: `NotFound` for an unknown thread or person, `Gone`, `TooLarge` for more
    than 1,000 people.
    """
    return (yield from _give(thread, people, (), role="assigned", event_type="thread.assigned", actor=actor))


def unassign(thread: str, people: Iterable[Key], *, actor: Key | None = None) -> Command[RoleChange]:
    """Take assignments back: `thread.unassigned` for those who were assigned. Transaction, errors: as `assign`."""
    change = _change(
        "take_role", thread, list(people), (), role="assigned", event_type="thread.unassigned", actor=actor
    )
    return (yield from change)


def request_review(
    thread: str, people: Iterable[Key] = (), *, teams: Iterable[str] = (), actor: Key | None = None
) -> Command[RoleChange]:
    """Ask people and teams for review: `thread.review_requested` for those who were not asked yet.

    Transaction: the caller's. Raises: as `assign`, also for teams.
    """
    event_type = "thread.review_requested"
    return (yield from _give(thread, people, teams, role="review_requested", event_type=event_type, actor=actor))


def remove_review_request(
    thread: str, people: Iterable[Key] = (), *, teams: Iterable[str] = (), actor: Key | None = None
) -> Command[RoleChange]:
    """Take requests for review back: `thread.review_request_removed` for those who are not asked any more.

    A person who was asked in another way too, by themselves or through another team, still is. Transaction
    and errors: as `request_review`.
    """
    event_type = "thread.review_request_removed"
    change = _change(
        "take_role", thread, list(people), teams, role="review_requested", event_type=event_type, actor=actor
    )
    return (yield from change)


def _give(
    thread: str, people: Iterable[Key], teams: Iterable[str], *, role: str, event_type: str, actor: Key | None
) -> Command[RoleChange]:
    wanted = list(dict.fromkeys(people))
    limits.check_count(len(wanted), "people")
    yield from require_people(wanted)
    return (yield from _change("give_role", thread, wanted, teams, role=role, event_type=event_type, actor=actor))


def _change(
    statement: str,
    thread: str,
    people: Sequence[Key],
    teams: Iterable[str],
    *,
    role: str,
    event_type: str,
    actor: Key | None,
) -> Command[RoleChange]:
    limits.check_count(len(people), "people")
    team_ids: list[int] = []
    for team in dict.fromkeys(teams):
        row = yield from share_team(team)
        team_ids.append(row["id"])
    row = yield from lock_thread(thread, actor)
    changed = yield ask(statement, thread=row["id"], role=role, people=people, teams=team_ids)
    return (yield from _tell(event_type, row, [each["person"] for each in changed], actor))


def _tell(event_type: str, thread: Row, people: Sequence[Key], actor: Key | None) -> Command[RoleChange]:
    if not people:
        return RoleChange()
    chunks = (people[start : start + PEOPLE_PER_EVENT] for start in range(0, len(people), PEOPLE_PER_EVENT))
    events = yield from publish_many(
        [
            NewEvent(
                type=event_type,
                keys={"people": [str(person) for person in chunk]},
                thread=thread["key"],
                space=thread["space"],
                actor=actor,
            )
            for chunk in chunks
        ]
    )
    return RoleChange(tuple(people), tuple(events))
