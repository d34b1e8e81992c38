"""Who hears, and why: the rules W1 to W11 over Clarion's own content."""

from clarion.content import members, organisations, people, posts, roles, spaces, threads
from clarion.inbox import choices
from clarion.model.inbox import WatchLevel
from clarion.notifier.why import why
from clarion.outbox.publish import notify
from support.world import ADA, BO, CHI, DARA, EMIL, HARBOR, VAULT, Seen, World


async def test_W1_the_person_assigned_hears_and_nobody_else(world: World) -> None:
    await world.do(choices.watch(CHI, HARBOR, WatchLevel.ALL))
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", author=ADA))
    await world.tell(roles.assign("i1", [BO], actor=ADA))
    inbox = await world.inbox("i1")
    assert inbox == {BO: Seen("assigned", True, 1), CHI: Seen("watching", True, 1)}


async def test_W2_a_mention_tells_and_subscribes(world: World) -> None:
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", body="look, @bo", author=ADA))
    assert await world.inbox("i1") == {BO: Seen("mentioned", True, 1)}
    await world.tell(posts.add_comment("c1", thread="i1", body="more", author=CHI))
    assert await world.inbox("i1") == {BO: Seen("mentioned", True, 2), ADA: Seen("author", True, 1)}


async def test_W3_a_team_mention_by_a_member_tells_the_team_and_subscribes_none(world: World) -> None:
    await world.do(organisations.add_organisation("o1", handle="lumen"))
    await world.do(organisations.add_team("t1", organisation="o1", handle="crew"))
    await world.do(spaces.move_space(HARBOR, "o1"))
    for person in (BO, CHI):
        await world.do(members.add_team_member("t1", person))
    await world.do(members.add_organisation_member("o1", ADA))
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", body="@lumen/crew", author=DARA))
    assert await world.inbox("i1") == {}
    await world.tell(posts.add_comment("c1", thread="i1", body="@lumen/crew and @bo", author=ADA))
    inbox = await world.inbox("i1")
    assert inbox[BO] == Seen("mentioned", True, 1)
    assert inbox[CHI] == Seen("team_mentioned", True, 1)
    assert inbox[DARA] == Seen("author", True, 1)
    await world.tell(posts.add_comment("c2", thread="i1", body="more", author=EMIL))
    assert (await world.inbox("i1"))[CHI] == Seen("team_mentioned", True, 1)


async def test_W4_W6_author_and_subscribers_hear_but_never_of_their_own(world: World) -> None:
    await world.tell(
        threads.open_thread("i1", space=HARBOR, kind="issue", title="T", author=ADA),
        posts.add_comment("c1", thread="i1", body="first", author=BO),
    )
    await world.tell(posts.add_comment("c2", thread="i1", body="second", author=ADA))
    assert await world.inbox("i1") == {ADA: Seen("author", True, 1), BO: Seen("subscribed", True, 1)}


async def test_W6_one_may_opt_in_to_ones_own_activity(world: World) -> None:
    await world.do(choices.choose(ADA, own=True))
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", author=ADA))
    await world.tell(posts.add_comment("c1", thread="i1", body="mine", author=ADA))
    assert (await world.inbox("i1"))[ADA].unread


async def test_W7_ignoring_a_space_silences_even_a_mention(world: World) -> None:
    await world.do(choices.watch(BO, HARBOR, WatchLevel.IGNORE))
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", body="@bo", author=ADA))
    assert await world.inbox("i1") == {}


async def test_W8_nobody_hears_of_what_they_cannot_read(world: World) -> None:
    await world.tell(threads.open_thread("v1", space=VAULT, kind="issue", title="T", body="@bo @chi", author=ADA))
    assert await world.inbox("v1") == {BO: Seen("mentioned", True, 1)}


async def test_W8_a_block_either_way_and_a_mute(world: World) -> None:
    for person in (BO, CHI, DARA):
        await world.do(choices.watch(person, HARBOR, WatchLevel.ALL))
    await world.do(choices.block(BO, ADA))
    await world.do(choices.block(ADA, CHI))
    await world.do(choices.mute(DARA, ADA))
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", body="@bo @chi", author=ADA))
    assert await world.inbox("i1") == {}
    await world.tell(posts.add_comment("c1", thread="i1", body="but @dara is heard", author=ADA))
    assert set(await world.inbox("i1")) == {DARA}


async def test_W8_inactive_people_hear_nothing(world: World) -> None:
    await world.do(people.deactivate_person(BO))
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", body="@bo", author=ADA))
    assert await world.inbox("i1") == {}


async def test_W8_a_thread_without_a_space_is_for_those_addressed(world: World) -> None:
    await world.tell(notify([BO], kind="export.ready", title="Your export is ready", link="/exports/3"))
    keys = await world.rows("SELECT key FROM clarion.thread")
    assert await world.inbox(keys[0]["key"]) == {BO: Seen("addressed", True, 1)}


async def test_W10_an_unsubscribe_outlasts_commenting_and_watching_but_not_a_mention(world: World) -> None:
    await world.tell(
        threads.open_thread("i1", space=HARBOR, kind="issue", title="T", author=ADA),
        posts.add_comment("c1", thread="i1", body="x", author=BO),
    )
    await world.do(choices.watch(BO, HARBOR, WatchLevel.ALL))
    await world.do(choices.unsubscribe(BO, await world.thread("i1")))
    await world.tell(
        posts.add_comment("c2", thread="i1", body="mine again", author=BO),
        posts.add_comment("c3", thread="i1", body="theirs", author=ADA),
    )
    assert BO not in await world.inbox("i1")
    await world.tell(posts.add_comment("c4", thread="i1", body="@bo?", author=ADA))
    assert (await world.inbox("i1"))[BO] == Seen("mentioned", True, 1)


async def test_W9_the_author_of_what_was_there_before_follows_it(world: World) -> None:
    await world.tell(
        threads.open_thread("i1", space=HARBOR, kind="issue", title="T", body="@chi", author=ADA, tell=False),
        posts.add_comment("c1", thread="i1", body="hello", author=BO),
    )
    assert await world.inbox("i1") == {ADA: Seen("author", True, 1)}


async def test_W11_later_activity_bumps_one_row_and_the_strongest_reason_shows(world: World) -> None:
    await world.do(choices.watch(BO, HARBOR, WatchLevel.ALL))
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", author=ADA))
    assert await world.inbox("i1") == {BO: Seen("watching", True, 1)}
    await world.tell(posts.add_comment("c1", thread="i1", body="@bo", author=CHI))
    await world.tell(posts.add_comment("c2", thread="i1", body="thanks", author=CHI))
    assert (await world.inbox("i1"))[BO] == Seen("mentioned", True, 3)


async def test_W13_a_review_is_one_event_with_its_comments(world: World) -> None:
    await world.tell(threads.open_thread("p1", space=HARBOR, kind="pull_request", title="T", author=ADA))
    comments = [posts.ReviewComment(key=f"rc{i}", body=f"line {i}") for i in range(3)]
    await world.tell(posts.submit_review("r1", thread="p1", author=BO, body="see below", comments=comments))
    assert await world.inbox("p1") == {ADA: Seen("author", True, 4)}
    events = await world.rows(
        "SELECT type FROM clarion.outbox_event WHERE type LIKE 'review.%%' OR type LIKE 'comment.%%'"
    )
    assert [event["type"] for event in events] == ["review.submitted"]


async def test_T4_beyond_a_hundred_mentions_the_author_is_told_and_the_rest_count_for_nobody(world: World) -> None:
    body = " ".join(f"@nobody{i}" for i in range(100)) + " @bo"
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", body=body, author=ADA))
    assert await world.inbox("i1") == {}
    (message,) = await world.rows(
        "SELECT title, n.person FROM clarion.thread t JOIN clarion.notification n ON n.thread = t.id"
    )
    assert message == {"title": "1 of your mentions told nobody: the first 100 in a post count", "person": ADA}


async def test_W13_a_comment_of_a_review_by_its_own_event_in_one_batch_is_told_once(world: World) -> None:
    await world.tell(threads.open_thread("p1", space=HARBOR, kind="pull_request", title="T", author=ADA))
    await world.tell(
        posts.submit_review("r1", thread="p1", author=BO, body="see below"),
        posts.add_comment("rc1", thread="p1", author=BO, body="line", review="r1"),
    )
    assert await world.inbox("p1") == {ADA: Seen("author", True, 2)}


async def test_why_for_everybody_equals_the_rows_written(world: World) -> None:
    await world.do(choices.watch(CHI, HARBOR, WatchLevel.ALL))
    await world.do(choices.watch(DARA, HARBOR, WatchLevel.IGNORE))
    await world.tell(threads.open_thread("i1", space=HARBOR, kind="issue", title="T", body="@bo @dara", author=ADA))
    (event,) = await world.rows("SELECT id FROM clarion.outbox_event WHERE type = 'thread.opened'")
    inbox = await world.inbox("i1")
    async with world.database.session() as session:
        for person in (ADA, BO, CHI, DARA, EMIL):
            answer = await why(session, world.notifier, event["id"], person)
            stopped = [verdict.column for verdict in answer.now if verdict.verdict == "stopped"]
            assert (stopped in ([], ["is_news"]) and bool(answer.now)) == (person in inbox), answer
        dara = await why(session, world.notifier, event["id"], DARA)
        bo = await why(session, world.notifier, event["id"], BO)
    assert bo.sentence == "bo has heard of it, because bo was mentioned."
    assert dara.sentence == "dara ignores the space (W7); to change that, watch it at another level."
