"""Edits, deletions, withdrawals: exactly one's share is taken back (W12), in either order (O12)."""

from clarion.content import people, posts, roles, threads
from clarion.inbox import choices, marks
from clarion.model.inbox import WatchLevel
from support.world import ADA, BO, CHI, DARA, HARBOR, Seen, World


async def open_issue(world: World, body: str = "") -> None:
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", body=body, author=ADA))


async def test_W12_F98_an_edit_tells_those_it_names_now_and_nobody_twice(world: World) -> None:
    await open_issue(world, "@bo")
    await world.do(marks.read(BO, [await world.thread("i1")]))
    await world.tell(threads.edit_thread("i1", body="@bo and @chi", actor=ADA))
    assert await world.inbox("i1") == {BO: Seen("mentioned", False, 1), CHI: Seen("mentioned", True, 1)}


async def test_F97_an_edit_that_names_nobody_new_is_silent(world: World) -> None:
    await open_issue(world, "@bo")
    before = await world.rows("SELECT person, version FROM clarion.inbox_state ORDER BY person")
    await world.tell(threads.edit_thread("i1", body="@bo!", actor=ADA))
    assert await world.rows("SELECT person, version FROM clarion.inbox_state ORDER BY person") == before


async def test_F23_W12_a_mention_taken_out_lowers_and_put_back_is_silent(world: World) -> None:
    await open_issue(world, "@bo")
    await world.tell(threads.edit_thread("i1", body="nobody", actor=ADA))
    assert await world.inbox("i1") == {}
    await world.tell(threads.edit_thread("i1", body="@bo again", actor=ADA))
    assert await world.inbox("i1") == {}


async def test_W12_a_follower_whose_mention_goes_keeps_the_weaker_reason(world: World) -> None:
    await world.do(choices.watch(BO, HARBOR, WatchLevel.ALL))
    await open_issue(world, "@bo")
    assert await world.inbox("i1") == {BO: Seen("mentioned", True, 1)}
    await world.tell(threads.edit_thread("i1", body="-", actor=ADA))
    assert await world.inbox("i1") == {BO: Seen("watching", True, 1)}


async def test_F1_F25_deleting_an_unread_post_takes_back_both_counts(world: World) -> None:
    await open_issue(world)
    await world.tell(
        posts.add_comment("c1", thread="i1", body="one", author=BO),
        posts.add_comment("c2", thread="i1", body="two @chi", author=BO),
    )
    assert await world.inbox("i1") == {ADA: Seen("author", True, 2), CHI: Seen("mentioned", True, 1)}
    await world.tell(posts.delete_post("c2", actor=BO))
    assert await world.inbox("i1") == {ADA: Seen("author", True, 1)}
    await world.tell(posts.delete_post("c1", actor=BO))
    assert await world.inbox("i1") == {}


async def test_F5_deleting_what_was_read_lowers_nothing(world: World) -> None:
    await open_issue(world)
    await world.tell(*(posts.add_comment(f"c{i}", thread="i1", body="x", author=BO) for i in range(3)))
    await world.do(marks.read(ADA, [await world.thread("i1")]))
    await world.tell(*(posts.delete_post(f"c{i}", actor=BO) for i in range(2)))
    assert await world.inbox("i1") == {ADA: Seen("author", False, 1)}


async def test_W12_a_saved_row_stays_with_nothing_left(world: World) -> None:
    await open_issue(world, "@bo")
    await world.do(marks.save(BO, [await world.thread("i1")]))
    await world.tell(threads.edit_thread("i1", body="-", actor=ADA))
    assert await world.inbox("i1") == {BO: Seen("mentioned", False, 0)}


async def test_W15_a_deleted_thread_takes_its_rows_along(world: World) -> None:
    await open_issue(world, "@bo @chi")
    await world.tell(threads.delete_thread("i1", actor=ADA))
    assert await world.inbox("i1") == {}
    assert not await world.rows("SELECT 1 FROM clarion.thread WHERE key = 'i1'")


async def test_O2_a_comment_deleted_before_it_is_handled_tells_nobody(world: World) -> None:
    await open_issue(world)
    await world.do(posts.add_comment("c1", thread="i1", body="@bo", author=CHI))
    await world.tell(posts.delete_post("c1", actor=CHI))
    assert await world.inbox("i1") == {}
    states = await world.rows("SELECT state FROM clarion.outbox_event WHERE type = 'comment.created'")
    assert [row["state"] for row in states] == ["skipped"]


async def test_W14_unassigning_tells_nobody_and_takes_back_what_is_unread(world: World) -> None:
    await open_issue(world)
    await world.tell(roles.assign("i1", [BO, CHI], actor=ADA))
    await world.do(marks.read(CHI, [await world.thread("i1")]))
    await world.tell(roles.unassign("i1", [BO], actor=ADA))
    assert await world.inbox("i1") == {CHI: Seen("assigned", False, 1)}


async def test_W17_a_handle_given_up_still_names_its_person_for_30_days(world: World) -> None:
    await world.do(people.change_person(BO, handle="robert"))
    await open_issue(world, "@bo")
    assert set(await world.inbox("i1")) == {BO}


async def test_W17_a_text_names_who_bore_the_handle_when_it_was_written(world: World) -> None:
    await open_issue(world, "@bo")
    await world.do(posts.add_comment("c1", thread="i1", body="@bo, too", author=ADA))
    await world.do(people.change_person(DARA, handle="bo", takes_handle=True))
    await world.tell(threads.edit_thread("i1", body="hm, @bo", actor=ADA))
    assert set(await world.inbox("i1")) == {BO}
    await world.tell(posts.add_comment("c2", thread="i1", body="@bo", author=ADA))
    assert (await world.inbox("i1"))[DARA] == Seen("mentioned", True, 1)


async def test_I1_O12_what_was_snoozed_comes_back_whole_whichever_ends_the_snooze(world: World) -> None:
    await world.do(choices.watch(BO, HARBOR, WatchLevel.ALL))
    await open_issue(world)
    until = (await world.rows("SELECT clarion.now() + interval '1 hour' AS until"))[0]["until"]
    await world.do(marks.snooze(BO, [await world.thread("i1")], until))
    await world.tell(posts.add_comment("c1", thread="i1", body="new", author=CHI))
    assert (await world.inbox("i1"))[BO] == Seen("watching", True, 2)
