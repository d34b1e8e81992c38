"""What the inbox shows: pages, single rows, the badge, and whether it is right (I2, I3, I7).

List, badge and verification ask one predicate, `clarion.is_unread`. Every answer is one statement, so that
rows, badge and version are of the same moment. Access is asked again for each row shown (W8). Reads only.
"""

from typing import Any

from clarion.model.errors import Invalid, NotFound, TooLarge
from clarion.model.inbox import MAX_PAGE, MAX_POSTS_COUNTED, TOP, Cursor, InboxState, Page, Row, Tab, Verified
from clarion.model.keys import Key
from clarion.model.reasons import Reason
from clarion.store.database import Command
from clarion.store.queries import ask

_NOT_OF_THE_ROW = {"version", "unread_count", "unseen", "key_seq", "key_thread", "is_bound", "matches"}


def list_rows(
    person: Key,
    *,
    tab: Tab = Tab.UNREAD,
    reason: Reason | None = None,
    space: Key | None = None,
    kind: str | None = None,
    before: Cursor | None = None,
    limit: int = MAX_PAGE,
) -> Command[Page]:
    """Return a page of a tab, newest activity first; `kind` is the thread's.

    Guarantee: no row twice in one walk; one that is bumped meanwhile may be met again at the top of the next.
    Without a filter the unread tab is what the badge counts, placeholders included; a filter shows none of them.
    Raises: `TooLarge` for more than 100 rows, `Invalid` for fewer than one.
    Cost: one statement, which looks at no more than a thousand keys of the tab's index: a page that found few
    among them is short, and its `next` goes on behind them. Per row: about ten index probes.
    """
    if limit > MAX_PAGE:
        raise TooLarge(f"a page has at most {MAX_PAGE} rows, not {limit}")
    if limit < 1:
        raise Invalid(f"a page has at least one row, not {limit}")
    place = before or TOP
    found = yield ask(
        f"list_{tab.value}",
        person=person,
        reason=None if reason is None else reason.value,
        space=space,
        kind=kind,
        filtered=any(choice is not None for choice in (reason, space, kind)),
        before_seq=place.seq,
        before_thread=place.thread,
        limit=limit + 1,
        max_posts=MAX_POSTS_COUNTED,
    )
    shown = [row for row in found if row["matches"]]
    last = shown[limit - 1] if len(shown) > limit else None
    if last is None and found[-1]["is_bound"]:
        last = found[-1]
    return Page(
        tuple(_row(row) for row in shown[:limit]),
        None if last is None else Cursor(last["key_seq"], last["key_thread"]),
        InboxState(found[0]["version"], found[0]["unread_count"], found[0]["unseen"]),
    )


def get_row(person: Key, thread: int) -> Command[Row]:
    """Return a person's row of one thread. Raises: `NotFound` where there is none, or it is hidden."""
    rows = yield ask("show_row", person=person, thread=thread, max_posts=MAX_POSTS_COUNTED)
    if not rows:
        raise NotFound(f"there is no notification of thread {thread}")
    return _row(rows[0])


def state(person: Key) -> Command[InboxState]:
    """Return a person's version, badge and colour without counting; zeros for one never told of anything."""
    (row,) = yield ask("show_inbox", person=person)
    return InboxState(row["version"], row["unread_count"], row["unseen"])


def verify_person(person: Key) -> Command[Verified]:
    """Compare a person's badge with their rows and their list. Cost: reads every row of the person's."""
    (row,) = yield ask("verify_inbox", person=person)
    return Verified(row["stored"], row["counted"], row["listed"])


def _row(row: dict[str, Any]) -> Row:
    values = {name: value for name, value in row.items() if name not in _NOT_OF_THE_ROW}
    return Row(**{**values, "reason": Reason(values["reason"])})
