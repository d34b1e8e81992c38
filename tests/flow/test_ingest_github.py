"""GitHub's payloads become content: all of a payload or none, once, and in whatever order they come."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from clarion.ingest import commands as to
from clarion.ingest.facts import PostFacts, ThreadFacts
from clarion.ingest.github import Applied, Broken, Ignored, ingest
from clarion.ingest.github_apply import apply_commands
from clarion.model.errors import Gone
from clarion.notifier import Notifier
from clarion.store.database import Database
from clarion.work.change import Changes
from clarion.work.relay import Relay
from clarion.work.wake import Wake

from clarion.content import RESOLVERS  # isort: skip

REPOSITORY = Path(__file__).parents[2]
SAMPLE = REPOSITORY / "src/clarion/ingest/sample"
REAL = REPOSITORY.parent / "shared/data/github"  # GitHub's own examples, where they are at hand
FOLDERS = [folder for folder in (SAMPLE, REAL) if folder.is_dir()]

KIM, LOU, BOT = 11, 12, 13
NOTES = 21
THREAD = ThreadFacts(
    key="21#5",
    space=NOTES,
    kind="issue",
    number=5,
    title="Colours run",
    author=KIM,
    link="https://forge.example/kim/notes/issues/5",
    body="Blue does.",
    created_at=datetime(2026, 2, 1, tzinfo=UTC),
    is_closed=False,
)
POST = PostFacts(
    key="comment:41",
    kind="comment",
    thread=THREAD.key,
    author=LOU,
    body="So does green.",
    link="https://forge.example/kim/notes/issues/5#41",
    created_at=datetime(2026, 2, 2, tzinfo=UTC),
)
WORLD: tuple[to.Command, ...] = (
    to.EnsurePerson(key=KIM, handle="kim", name="Kim", kind="person"),
    to.EnsurePerson(key=LOU, handle="lou", name=None, kind="person"),
    to.EnsurePerson(key=BOT, handle="paint.bot", name=None, kind="bot"),
    to.EnsureSpace(key=NOTES, name="kim/notes", visibility="public", organisation=None, owner=KIM),
)


def payloads(folder: Path) -> list[tuple[str, bytes]]:
    return [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.json"))]


async def rows(database: Database, query: str) -> list[tuple[Any, ...]]:
    async with database.session() as session:
        found = await (await session.connection.execute(query.encode())).fetchall()
    return [tuple(row.values()) for row in found]


async def value(database: Database, query: str) -> Any:
    return (await rows(database, query))[0][0]


async def execute(database: Database, query: str) -> None:
    async with database.session() as session:
        await session.connection.execute(query.encode())


async def apply(database: Database, *values: to.Command) -> list[int]:
    async with database.session() as session:
        return await session.run(apply_commands(values))


async def relay_all(database: Database) -> None:
    await Relay(database, Notifier(RESOLVERS, "bigint"), Wake()).drain()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
async def test_O11_every_file_is_applied_or_ignored_with_a_reason_and_once(database: Database, folder: Path) -> None:
    changes = Changes(database, lambda: None)
    for name, content in payloads(folder):
        first = await ingest(changes, content, name=name)
        assert isinstance(first, Applied) or (isinstance(first, Ignored) and "stays gone" in first.reason), name
        before = await rows(database, "SELECT id FROM clarion.outbox_event ORDER BY id")
        again = await ingest(changes, content, name=name)
        assert isinstance(again, Ignored), name
        assert isinstance(first, Ignored) or again.reason == "it was applied before"
        assert await rows(database, "SELECT id FROM clarion.outbox_event ORDER BY id") == before


async def test_O11_a_payload_that_is_forgotten_still_changes_nothing_when_it_comes_twice_in_a_row(
    database: Database,
) -> None:
    changes = Changes(database, lambda: None)
    for name, content in payloads(SAMPLE):
        await ingest(changes, content, name=name)
        before = await value(database, "SELECT count(*) FROM clarion.outbox_event WHERE type <> 'thread.changed'")
        await execute(database, "DELETE FROM clarion.request")
        assert not isinstance(await ingest(changes, content, name=name), Broken)
        after = await value(database, "SELECT count(*) FROM clarion.outbox_event WHERE type <> 'thread.changed'")
        assert after == before, name


async def test_a_foreign_file_among_good_ones_is_named_and_changes_nothing(database: Database) -> None:
    changes = Changes(database, lambda: None)
    outcome = await ingest(changes, b'{"action": "opened"}', name="issues.00.opened.json")
    assert outcome == Broken("not of GitHub: no `sender`")
    assert await value(database, "SELECT count(*) FROM clarion.person") == 0
    assert await value(database, "SELECT count(*) FROM clarion.request") == 0


async def test_O1_of_a_payload_that_cannot_be_applied_nothing_is(database: Database) -> None:
    await apply(database, *WORLD, to.OpenThread(facts=THREAD, actor=KIM))
    await apply(database, to.DeleteThread(thread=THREAD.key, actor=KIM))
    newcomer = to.EnsurePerson(key=99, handle="new", name=None, kind="person")
    with pytest.raises(Gone, match="stays gone"):
        await apply(database, newcomer, to.EnsureThread(facts=THREAD), to.AddPost(facts=POST, actor=LOU))
    assert await value(database, "SELECT count(*) FROM clarion.person WHERE id = 99") == 0


async def test_what_was_there_before_is_silent_and_left_alone(database: Database) -> None:
    assert await apply(database, *WORLD, to.EnsureThread(facts=THREAD), to.EnsurePost(facts=POST)) == []
    older = replace(THREAD, title="Older", body="Older.", is_closed=True)
    assert await apply(database, to.EnsureThread(facts=older), to.EnsurePost(facts=replace(POST, body="Older."))) == []
    assert await rows(database, "SELECT title, state FROM clarion.content_thread") == [("Colours run", "open")]
    assert await value(database, "SELECT body FROM clarion.content_post WHERE key = 'comment:41'") == POST.body
    assert await apply(database, to.OpenThread(facts=THREAD, actor=KIM), to.AddPost(facts=POST, actor=LOU)) == []


async def test_W12_an_edit_of_something_unknown_does_not_tell_those_whom_it_named_before(database: Database) -> None:
    old, new = replace(POST, body="@kim: so does gren."), "@kim: so does green."
    events = await apply(
        database,
        *WORLD,
        to.EnsureThread(facts=THREAD),
        to.EnsurePost(facts=old),
        to.EditPost(thread=THREAD.key, post=POST.key, body=new, actor=LOU),
    )
    assert events == []
    assert await value(database, "SELECT body FROM clarion.content_post WHERE key = 'comment:41'") == new


async def test_W12_an_edit_tells_whom_it_names_now(database: Database) -> None:
    await apply(
        database,
        *WORLD,
        to.EnsureThread(facts=THREAD),
        to.EnsurePost(facts=POST),
        to.EditPost(thread=THREAD.key, post=POST.key, body="So does green, @kim.", actor=LOU),
    )
    await relay_all(database)
    assert await rows(database, "SELECT person, reason::text FROM clarion.notification") == [(KIM, "mentioned")]


async def test_W17_whoever_claims_a_handle_last_has_it(database: Database) -> None:
    other = to.EnsurePerson(key=14, handle="Kim", name=None, kind="person")
    await apply(database, *WORLD, other)
    query = "SELECT id, handle_folded FROM clarion.person WHERE id IN (11, 14) ORDER BY id"
    assert await rows(database, query) == [(KIM, None), (14, "kim")]
    await apply(database, to.EnsurePerson(key=KIM, handle="kim", name="Kim", kind="person"))
    assert await rows(database, query) == [(KIM, "kim"), (14, None)]


async def test_a_person_keeps_what_a_host_said_of_them(database: Database) -> None:
    await apply(database, *WORLD)
    await execute(database, "UPDATE clarion.person SET zone = 'Europe/Lisbon', address = 'kim@forge.example'")
    await apply(database, to.EnsurePerson(key=KIM, handle="kim-2", name=None, kind="person"))
    found = await rows(database, "SELECT handle, name, zone, address FROM clarion.person WHERE id = 11")
    assert found == [("kim-2", "Kim", "Europe/Lisbon", "kim@forge.example")]


async def test_W8_a_bot_acts_and_hears_nothing(database: Database) -> None:
    named = replace(THREAD, body="@paint.bot, please.")
    await apply(database, *WORLD, to.OpenThread(facts=named, actor=KIM))
    await apply(database, to.AddPost(facts=replace(POST, author=BOT, body="@kim, done."), actor=BOT))
    await relay_all(database)
    assert await rows(database, "SELECT person, reason::text FROM clarion.notification") == [(KIM, "mentioned")]


async def test_W15_a_space_closes_by_any_payload_and_opens_by_news_alone(database: Database) -> None:
    public = WORLD[3]
    assert isinstance(public, to.EnsureSpace)
    private = replace(public, visibility="private")
    query = "SELECT visibility FROM clarion.content_space"
    await apply(database, *WORLD)
    assert await apply(database, private) != []
    assert await value(database, query) == "private"
    assert await apply(database, public) == []
    assert await value(database, query) == "private"
    await apply(database, to.SetVisibility(space=NOTES, visibility="public", actor=KIM))
    assert await value(database, query) == "public"


async def test_an_owner_may_do_everything_in_a_private_space(database: Database) -> None:
    space = WORLD[3]
    assert isinstance(space, to.EnsureSpace)
    await apply(database, *WORLD[:3], replace(space, visibility="private"))
    assert await rows(database, "SELECT person, role FROM clarion.space_member") == [(KIM, "admin")]


async def test_a_permission_that_is_not_told_stays(database: Database) -> None:
    member = to.SetMember(scope="space", of=NOTES, person=LOU, permission="write", actor=KIM)
    await apply(database, *WORLD, member, replace(member, permission=None))
    assert await value(database, "SELECT role FROM clarion.space_member WHERE person = 12") == "write"


async def test_W17_organisations_and_teams_take_over_handles(database: Database) -> None:
    await apply(
        database,
        to.EnsureOrganisation(key=1, handle="brush"),
        to.EnsureTeam(key=31, organisation=1, slug="docs", name="Docs"),
        to.EnsureTeam(key=32, organisation=1, slug="docs", name="New docs"),
        to.EnsureOrganisation(key=2, handle="brush"),
    )
    found = await rows(database, "SELECT key, handle FROM clarion.organisation ORDER BY key")
    assert found == [("1", "former-1"), ("2", "brush")]
    found = await rows(database, "SELECT key, handle FROM clarion.team ORDER BY key")
    assert found == [("31", "former-31"), ("32", "docs")]


async def test_W13_a_review_comment_may_come_before_its_review_or_after(database: Database) -> None:
    pull = replace(THREAD, kind="pull_request")
    early = replace(POST, key="review_comment:1", kind="review_comment", review="review:7")
    review = replace(POST, key="review:7", kind="review", state="approved", body="Fine.")
    events = await apply(
        database,
        *WORLD,
        to.OpenThread(facts=pull, actor=KIM),
        to.AddPost(facts=early, actor=LOU),
        to.SubmitReview(facts=review, actor=LOU),
        to.AddPost(facts=replace(early, key="review_comment:2"), actor=LOU),
    )
    assert len(events) == 4
    await relay_all(database)
    found = await rows(database, "SELECT key FROM clarion.post ORDER BY position")
    assert {key for (key,) in found} == {"21#5:opening", "review_comment:1", "review:7", "review_comment:2"}
    assert await rows(database, "SELECT person, unread_count FROM clarion.inbox_state WHERE person = 11") == [(KIM, 1)]


async def test_W17_a_moved_thread_answers_to_both_keys(database: Database) -> None:
    there = to.EnsureSpace(key=22, name="kim/cellar", visibility="public", organisation=None, owner=KIM)
    move = to.MoveThread(
        thread=THREAD.key, to_key="22#9", to_space=22, number=9, link="https://forge.example/22/9", actor=KIM
    )
    await apply(database, *WORLD, there, to.OpenThread(facts=THREAD, actor=KIM), move)
    assert await apply(database, to.EnsureThread(facts=THREAD), move) == []
    moved = replace(THREAD, key="22#9", space=22)
    comment = replace(POST, thread="22#9")
    await apply(database, to.EnsureThread(facts=moved), to.AddPost(facts=comment, actor=LOU))
    assert await rows(database, "SELECT key, space FROM clarion.content_thread") == [("21#5", 22)]


async def test_W17_a_thread_that_arrived_before_it_left_is_the_new_one(database: Database) -> None:
    there = to.EnsureSpace(key=22, name="kim/cellar", visibility="public", organisation=None, owner=KIM)
    moved = replace(THREAD, key="22#9", space=22)
    move = to.MoveThread(
        thread=THREAD.key, to_key="22#9", to_space=22, number=9, link="https://forge.example/22/9", actor=KIM
    )
    await apply(database, *WORLD, there, to.OpenThread(facts=moved, actor=KIM), to.EnsureThread(facts=THREAD), move)
    assert await rows(database, "SELECT key FROM clarion.content_thread WHERE deleted_at IS NULL") == [("22#9",)]
    with pytest.raises(Gone):
        await apply(database, to.EnsureThread(facts=THREAD))


async def test_an_author_who_left_the_forge_is_nobody(database: Database) -> None:
    await apply(database, *WORLD, to.OpenThread(facts=replace(THREAD, author=None), actor=LOU))
    assert await value(database, "SELECT author FROM clarion.content_thread") is None
