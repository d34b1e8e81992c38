"""`clarion inbox`: a person's notifications, seen and marked (I)."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from clarion.cli import hints, running
from clarion.cli.naming import find_person, find_space, find_threads
from clarion.cli.printing import JsonOption, console, print_json, print_table
from clarion.engine import Engine
from clarion.inbox import listing, mark_all, marks
from clarion.model.errors import Invalid
from clarion.model.inbox import MAX_PAGE, Cursor, Marked, Page, Tab, Undo
from clarion.model.keys import Key
from clarion.model.reasons import IN_WORDS, Reason
from clarion.store.database import Command

inbox = typer.Typer(help="Look at a person's inbox, and mark what is in it.", no_args_is_help=True)

Person = Annotated[str, typer.Argument(help="A handle, or the key of a person.")]
Threads = Annotated[list[str], typer.Argument(help="Threads: numbers as `inbox ls` shows them, or the host's keys.")]


@inbox.command("ls")
def list_rows(
    person: Person,
    *,
    tab: Annotated[Tab, typer.Option(help="Which list.")] = Tab.UNREAD,
    reason: Annotated[Reason | None, typer.Option(help="Only rows of this reason.")] = None,
    space: Annotated[str | None, typer.Option(help="Only rows of this space: its name or key.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only threads of this kind.")] = None,
    before: Annotated[str | None, typer.Option(help="The next page: what the page before says at its end.")] = None,
    limit: Annotated[int, typer.Option(help=f"Rows of a page, at most {MAX_PAGE}.")] = 30,
    as_json: JsonOption = False,
) -> None:
    """List a person's notifications, newest activity first."""

    async def ask(engine: Engine) -> Command[Page]:
        return listing.list_rows(
            await find_person(engine, person),
            tab=tab,
            reason=reason,
            space=None if space is None else await find_space(engine, space),
            kind=kind,
            before=None if before is None else Cursor.parse(before),
            limit=limit,
        )

    page = running.change(ask)
    if as_json:
        print_json(page)
        return
    if not page.rows and before is None:
        filtered = any(choice is not None for choice in (reason, space, kind))
        print(f"{person} has nothing in the list {tab}{' that fits' if filtered else ''}")
        return
    print_table(
        ("thread", "title", "why", "latest", "by", "posts", "active", "marks"),
        (
            (row.thread, row.title or "(no longer yours to read)", IN_WORDS[row.reason], row.latest_kind,
             row.actor_handle or row.actor, row.posts_unread or "", row.active_at, _marks(row))
            for row in page.rows
        ),
    )  # fmt: skip
    console().print(f"{page.state.unread_count} unread; mark-all takes --cutoff {page.state.version}")
    if page.next:
        again = hints.command(
            "inbox", "ls", person, tab=tab, reason=reason, space=space, kind=kind, limit=limit, before=page.next
        )
        print(f"more: {again}")


@inbox.command("read")
def read(person: Person, threads: Threads) -> None:
    """Mark rows read."""
    _mark(person, threads, marks.read)


@inbox.command("unread")
def unread(person: Person, threads: Threads) -> None:
    """Mark rows unread; those done come back."""
    _mark(person, threads, marks.unread)


@inbox.command("done")
def done(
    person: Person, threads: Threads, *, back: Annotated[bool, typer.Option("--back", help="Take it back.")] = False
) -> None:
    """Put rows away as done (archived)."""
    _mark(person, threads, marks.not_done if back else marks.done)


@inbox.command("save")
def save(
    person: Person, threads: Threads, *, back: Annotated[bool, typer.Option("--back", help="Take it back.")] = False
) -> None:
    """Save rows: they stay when what they tell of is gone."""
    _mark(person, threads, marks.unsave if back else marks.save)


@inbox.command("snooze")
def snooze(
    person: Person,
    threads: Threads,
    *,
    until: Annotated[str | None, typer.Option(help="2026-03-02T09:00+01:00; without a zone it is UTC.")] = None,
    back: Annotated[bool, typer.Option("--back", help="Take it back.")] = False,
) -> None:
    """Put rows away until a time, when they come back as unread."""
    if back == (until is not None):
        raise Invalid("snooze needs either --until TIME or --back")
    if until is None:
        _mark(person, threads, marks.unsnooze)
        return
    instant = _instant(until)
    _mark(person, threads, lambda who, numbers: marks.snooze(who, numbers, instant))


@inbox.command("mark-all")
def mark_everything(
    person: Person,
    *,
    cutoff: Annotated[
        int | None, typer.Option(help="Up to this number, as `inbox ls` told it. Default: all there is now.")
    ] = None,
    space: Annotated[str | None, typer.Option(help="Only this space: its name or key.")] = None,
    undo: Annotated[str | None, typer.Option(help="Take a mark-all back: what it printed.")] = None,
) -> None:
    """Mark everything read up to a cutoff; what comes later stays unread."""

    async def work() -> tuple[Marked, Undo | None]:
        async with running.opened(running.settings()) as engine:
            who = await find_person(engine, person)
            if undo is not None:
                return await engine.changes.run(mark_all.undo_mark_all(who, _undo(undo))), None
            upto = (await engine.changes.run(listing.state(who))).version if cutoff is None else cutoff
            if space is not None:
                place = await find_space(engine, space)
                return await engine.changes.run(mark_all.mark_space(who, place, upto)), None
            answer = await engine.changes.run(mark_all.mark_all(who, upto))
            return answer.marked, answer.undo

    marked, back = running.run(work)
    _tell(marked)
    if back is not None and back.before != back.after:
        undoing = hints.command("inbox", "mark-all", person, undo=f"{back.before}-{back.after}")
        print(f"to take it back: {undoing}")


def _mark(person: str, threads: list[str], mark: Callable[[Key, Collection[int]], Command[Marked]]) -> None:
    async def ask(engine: Engine) -> Command[Marked]:
        return _mark_there(mark, await find_person(engine, person), await find_threads(engine, threads))

    _tell(running.change(ask))


def _mark_there(
    mark: Callable[[Key, Collection[int]], Command[Marked]], person: Key, threads: list[int]
) -> Command[Marked]:
    """Mark rows that are all there. Raises: `NotFound` for the first that is not."""
    for thread in threads:
        yield from listing.get_row(person, thread)
    return (yield from mark(person, threads))


def _tell(marked: Marked) -> None:
    print(f"rows changed: {marked.changed}, unread: {marked.unread_count}")


def _marks(row: Any) -> str:
    words = {
        "unread": row.unread,
        "saved": row.saved,
        "done": row.done,
        "snoozed": row.snoozed_until is not None,
        "not subscribed": not row.subscribed,
    }
    return ", ".join(word for word, holds in words.items() if holds)


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(f"{text!r} is no time: write it as 2026-03-02T09:00+01:00") from None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _undo(text: str) -> Undo:
    before, dash, after = text.partition("-")
    if not (dash and before.isdecimal() and after.isdecimal()):
        raise Invalid(f"{text!r} takes nothing back: give what mark-all printed, such as 12-40")
    return Undo(int(before), int(after))
