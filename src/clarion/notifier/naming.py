"""Whom the texts of a batch name: handles and teams become keys in two statements, whatever the number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from clarion.model.happening import Part
from clarion.model.keys import Key
from clarion.model.reasons import Reason
from clarion.model.text import Mentions, find_mentions
from clarion.store.database import Row, Session


@dataclass(frozen=True, slots=True)
class Text:
    """A post's text with who wrote it and where: what a team mention depends on (W3)."""

    event: int
    part: Part
    author: Key | None
    space: Key | None
    written_at: datetime


@dataclass(frozen=True, slots=True)
class Named:
    """A person or a team that a post names, and why that makes them hear."""

    event: int
    post: str
    whom: Key
    reason: Reason


@dataclass(frozen=True, slots=True)
class Naming:
    """Everybody named in the texts of a batch."""

    people: Sequence[Named]
    teams: Sequence[Named]
    beyond: Mapping[int, int]
    """By event: how many mentions count for nobody, being over the limit (T4)."""


async def find_named(session: Session, texts: Sequence[Text]) -> Naming:
    """Return whom the texts name, by the handles and teams that exist now (T1 to T4, W3, W17)."""
    found = [(text, mentions) for text in texts if (mentions := find_mentions(text.part.text)).people or mentions.teams]
    beyond = {text.event: mentions.beyond for text, mentions in found if mentions.beyond}
    return Naming(await _people(session, found), await _teams(session, found), beyond)


async def _people(session: Session, found: Sequence[tuple[Text, Mentions]]) -> list[Named]:
    handles = {handle for _, mentions in found for candidates in mentions.people for handle in candidates}
    if not handles:
        return []
    bearers: dict[str, list[Row]] = {}
    for row in await session.fetch("find_people", handles=sorted(handles)):
        bearers.setdefault(row["handle"], []).append(row)
    named = {
        Named(text.event, text.part.post, _bearer(bearers[handle], text.written_at), Reason.MENTIONED): None
        for text, mentions in found
        for candidates in mentions.people
        if (handle := next((candidate for candidate in candidates if candidate in bearers), None))
    }
    return list(named)


def _bearer(bearers: Sequence[Row], written_at: datetime) -> Key:
    """Return who bore the handle when the text was written, so that no stranger is told (W17).

    `bearers` come in the order in which they gave it up, the present one last.
    """
    then = (row for row in bearers if row["until"] is None or row["until"] > written_at)
    person: Key = next(then, bearers[-1])["person"]
    return person


async def _teams(session: Session, found: Sequence[tuple[Text, Mentions]]) -> list[Named]:
    asked = [
        (text, organisation, team)
        for text, mentions in found
        for organisation, team in mentions.teams
        if text.space is not None and text.author is not None
    ]
    if not asked:
        return []
    rows = await session.fetch(
        "find_teams",
        spaces=[text.space for text, _, _ in asked],
        authors=[text.author for text, _, _ in asked],
        organisations=[organisation for _, organisation, _ in asked],
        teams=[team for _, _, team in asked],
    )
    texts = [text for text, _, _ in asked]
    named = {
        Named(text.event, text.part.post, row["team"], Reason.TEAM_MENTIONED): None
        for row in rows
        for text in (texts[row["ordinal"] - 1],)
    }
    return list(named)
