"""Any order of marks, against a model in plain Python that shares no SQL with the inbox (I1, I2, I4, I6)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.inbox import listing, mark_all, marks
from clarion.model.inbox import Tab, Undo
from clarion.store.database import Database
from support.inbox_rows import Inbox, bump

LATER = datetime(2100, 1, 1, tzinfo=UTC)
THREADS = range(1, 7)
COMMANDS = {
    "read": marks.read,
    "unread": marks.unread,
    "done": marks.done,
    "not_done": marks.not_done,
    "save": marks.save,
    "unsave": marks.unsave,
    "snooze": lambda person, threads: marks.snooze(person, threads, LATER),
    "unsnooze": marks.unsnooze,
}
some_threads = st.lists(st.sampled_from(THREADS), min_size=1, max_size=3, unique=True)
steps = st.one_of(
    st.tuples(st.just("bump"), some_threads),
    st.tuples(st.sampled_from(sorted(COMMANDS)), some_threads),
    st.tuples(st.sampled_from(["mark_all", "seen"]), st.integers(0, 3)),
    st.tuples(st.just("undo"), st.just(0)),
)


@dataclass
class ModelRow:
    """A row as the rules speak of it."""

    seq: int
    unread_seq: int = 0
    read: bool = False
    done: bool = False
    saved: bool = False
    snoozed: bool = False


@dataclass
class Model:
    """The inbox as BEHAVIOUR tells it."""

    version: int = 0
    watermark: int = 0
    seen: int = 0
    rows: dict[int, ModelRow] = field(default_factory=dict)
    undo: tuple[int, int] = (0, 0)

    def is_unread(self, row: ModelRow) -> bool:
        fresh = max(row.seq, row.unread_seq) > self.watermark
        return fresh and not (row.read or row.done or row.snoozed)

    def unread(self) -> list[int]:
        return self.in_order(thread for thread, row in self.rows.items() if self.is_unread(row))

    def in_order(self, threads: Iterable[int]) -> list[int]:
        return sorted(threads, key=lambda thread: (self.rows[thread].seq, thread), reverse=True)

    def bump(self, threads: list[int]) -> None:
        self.version += 1
        for thread in threads:
            saved = thread in self.rows and self.rows[thread].saved
            self.rows[thread] = ModelRow(self.version, saved=saved)

    def mark(self, name: str, threads: list[int]) -> None:
        changed = [self._mark(name, self.rows[thread]) for thread in threads if thread in self.rows]
        self.version += any(changed)

    def _mark(self, name: str, row: ModelRow) -> bool:
        before = ModelRow(**vars(row))
        match name:
            case "read" if not row.read and (row.snoozed or self.is_unread(row)):
                row.read, row.unread_seq = True, 0
            case "unread" if not self.is_unread(row):
                row.read = row.done = row.snoozed = False
                row.unread_seq = self.version + 1
            case "done" if not row.done:
                row.done = row.read = True
                row.snoozed, row.unread_seq = False, 0
            case "not_done":
                row.done = False
            case "save" | "unsave":
                row.saved = name == "save"
            case "snooze" | "unsnooze":
                row.snoozed = name == "snooze"
        return row != before

    def mark_all(self, cutoff: int) -> None:
        after = sum(max(self.rows[t].seq, self.rows[t].unread_seq) > cutoff for t in self.unread())
        self.undo = (self.watermark, self.watermark)
        if cutoff > self.watermark and after < len(self.unread()):
            self.undo = (self.watermark, cutoff)
            self.watermark = cutoff
            self.version += 1

    def undo_mark_all(self) -> None:
        before, after = self.undo
        if before < after == self.watermark:
            self.watermark = before
            self.version += 1

    def open_panel(self, shown: int) -> None:
        if any(self.seen < row.seq <= shown for row in self.rows.values()):
            self.seen = shown
            self.version += 1


people = count(1000)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps, max_size=25))
async def test_I2_the_badge_is_the_list_and_the_model_after_any_marks(
    database: Database, script: list[tuple[str, list[int] | int]]
) -> None:
    inbox, model, me = Inbox(database), Model(), next(people)
    if not await inbox.rows("SELECT 1 AS one FROM clarion.thread LIMIT 1"):
        await inbox.set_up()
    await inbox.rows(
        "INSERT INTO clarion.person (id, handle, handle_folded) VALUES (%(me)s, %(handle)s, %(handle)s)",
        me=me,
        handle=f"p{me}",
    )
    undo = Undo(0, 0)
    for name, argument in script:
        match name, argument:
            case "bump", list():
                model.bump(argument)
                async with database.session() as session:
                    await bump(session, *argument, person=me)
            case "mark_all", int():
                cutoff = max(0, model.version - argument)
                model.mark_all(cutoff)
                undo = (await inbox.do(mark_all.mark_all(me, cutoff))).undo
            case "undo", int():
                model.undo_mark_all()
                await inbox.do(mark_all.undo_mark_all(me, undo))
            case "seen", int():
                shown = max(0, model.version - argument)
                model.open_panel(shown)
                await inbox.do(mark_all.seen(me, shown))
            case _, list():
                model.mark(name, argument)
                await inbox.do(COMMANDS[name](me, argument))
            case _:
                raise AssertionError(name)
        page = await inbox.do(listing.list_rows(me))
        assert [row.thread for row in page.rows] == model.unread(), (name, argument)
        assert (page.state.version, page.state.unread_count) == (model.version, len(model.unread()))
        assert page.state.unseen == any(model.rows[thread].seq > model.seen for thread in model.unread())
        assert await inbox.badge(me) == len(model.unread())
    kept = {
        Tab.ALL: [thread for thread, row in model.rows.items() if not row.done],
        Tab.DONE: [thread for thread, row in model.rows.items() if row.done],
        Tab.SAVED: [thread for thread, row in model.rows.items() if row.saved],
        Tab.SNOOZED: [thread for thread, row in model.rows.items() if row.snoozed],
    }
    for tab, threads in kept.items():
        shown_rows = (await inbox.do(listing.list_rows(me, tab=tab))).rows
        assert [row.thread for row in shown_rows] == model.in_order(threads)
