"""The demo's tables: who heard of what and why, each reason with an example, and for a few why not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clarion.cli import hints
from clarion.cli.demo_story import WHY_NOT
from clarion.cli.printing import console, print_table
from clarion.engine import Engine
from clarion.model.errors import NotFound
from clarion.model.keys import Key
from clarion.model.reasons import IN_WORDS, Reason
from clarion.outbox.operate import Depth
from clarion.store.database import Command, Row
from clarion.store.queries import ask


@dataclass(frozen=True, slots=True)
class Heard:
    """One person's notification of one thread."""

    handle: str
    person: Key
    thread: str
    title: str
    reason: str
    unread: bool
    hidden: bool
    posts: int


def show_heard(heard: Sequence[Heard], settled: Mapping[str, Any], waiting: Iterable[Depth]) -> None:
    """Say in one line what came of it all."""
    people = {row.person for row in heard}
    left = sum(depth.count for depth in waiting)
    console().print(
        f"{settled['events']} events, {len(people)} people heard of {len(heard)} things"
        f" ({sum(row.posts for row in heard)} posts), {settled['set_aside']} failed, {left} waiting\n"
    )


def show_reasons(heard: Sequence[Heard]) -> None:
    """Show each reason, strongest first, with how often it told somebody, and an example."""
    by_reason = {reason: [row for row in heard if row.reason == reason.value] for reason in Reason}
    print_table(
        ("reason", "in words", "heard", "for example"),
        (
            (reason.value, IN_WORDS[reason], len(rows), f"{rows[0].handle}: {rows[0].title}")
            for reason, rows in by_reason.items()
            if rows
        ),
        title="Why people hear",
    )


def show_who(heard: Sequence[Heard]) -> None:
    """Show who heard of what, and why."""
    print_table(
        ("who", "heard of", "because", "posts", "is"),
        (
            (
                row.handle,
                row.title,
                IN_WORDS[Reason(row.reason)],
                row.posts or "",
                "hidden: no longer theirs to read" if row.hidden else "unread" if row.unread else "read",
            )
            for row in heard
        ),
        title="Who heard of what, and why",
    )


async def show_why_nots(engine: Engine) -> None:
    """Show for a few who did not hear of something what `clarion why` says."""
    rows = []
    for question in WHY_NOT:
        found = await engine.changes.run(_find_event(question.type, question.thread, question.post))
        if found is None:
            continue
        try:
            answer = await engine.why(found, question.person)
        except NotFound:
            continue
        rows.append((found, question.type, answer.sentence))
    print_table(("event", "what happened", "and why not"), rows, title=f"Why not? ({hints.program()} why EVENT PERSON)")


def _find_event(event_type: str, thread: str, post: str | None) -> Command[int | None]:
    rows: list[Row] = yield ask("find_event_of", type=event_type, thread=thread, post=post)
    return int(rows[0]["id"]) if rows else None
