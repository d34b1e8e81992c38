"""From the host's request to a person's inbox and back, all over HTTP."""

from support.doors import Doors, ok


async def test_a_comment_reaches_the_inbox_of_whom_it_names(doors: Doors) -> None:
    await doors.small_world()
    ada = await doors.person(1)
    assert ok(await ada.get("/v1/me")) == {"person": "1", "version": 1, "unread_count": 1, "unseen": True}
    page = ok(await ada.get("/v1/inbox"))
    (row,) = page["rows"]
    assert (row["key"], row["space"], row["reason"], row["actor"]) == ("org/repo#1", "10", "mentioned", "2")
    assert isinstance(row["thread"], str)
    assert page["next"] is None
    marked = ok(await ada.post(f"/v1/inbox/{row['thread']}/read"))
    assert marked == {"changed": 1, "version": 2, "unread_count": 0}
    assert ok(await ada.get("/v1/inbox"))["rows"] == []
    assert ok(await ada.get("/v1/inbox", params={"tab": "all", "reason": "mentioned", "space": "10"}))["rows"]
    assert not ok(await ada.get("/v1/inbox", params={"tab": "all", "reason": "assigned"}))["rows"]


async def test_every_mark_goes_there_and_back(doors: Doors) -> None:
    await doors.small_world()
    ada = await doors.person(1)
    (row,) = ok(await ada.get("/v1/inbox"))["rows"]
    there = f"/v1/inbox/{row['thread']}"
    for mark, field, value in (
        ("done", "done", True),
        ("undone", "done", False),
        ("unread", "unread", True),
        ("read", "unread", False),
        ("save", "saved", True),
        ("unsave", "saved", False),
    ):
        assert ok(await ada.post(f"{there}/{mark}"))["changed"] == 1, mark
        assert ok(await ada.get(there))[field] is value, mark
        assert ok(await ada.post(f"/v1/inbox/{mark}", json={"threads": [row["thread"], "99999"]}))["changed"] == 0
    until = "2199-01-01T00:00:00Z"
    assert ok(await ada.post(f"{there}/snooze", json={"until": until}))["changed"] == 1
    assert ok(await ada.get("/v1/inbox", params={"tab": "snoozed"}))["rows"][0]["snoozed_until"] == until
    assert ok(await ada.post(f"{there}/unsnooze"))["changed"] == 1
    assert ok(await ada.post("/v1/inbox/snooze", json={"threads": [row["thread"]], "until": until}))["changed"] == 1


async def test_I4_mark_all_takes_the_version_of_the_page_and_is_taken_back(doors: Doors) -> None:
    await doors.small_world()
    ada = await doors.person(1)
    shown = ok(await ada.get("/v1/inbox"))["state"]["version"]
    ok(await doors.host.put("/v1/threads/t2", json={"space": "10", "kind": "issue", "title": "Two", "body": "@ada"}))
    await doors.relay()
    marked = ok(await ada.post("/v1/inbox/mark-all", json={"cutoff": shown}))
    assert (marked["changed"], marked["unread_count"]) == (1, 1)
    undone = ok(await ada.post("/v1/inbox/mark-all/undo", json={"undo": marked["undo"]}))
    assert undone["unread_count"] == 2
    space = ok(await ada.post("/v1/inbox/mark-all", json={"cutoff": undone["version"], "space": 10}))
    assert (space["unread_count"], space["undo"]) == (0, None)
    again = ok(await ada.post("/v1/inbox/mark-all", json={"cutoff": "2199-01-01T00:00:00Z"}))
    assert again["changed"] == 0


async def test_I1_seen_takes_the_colour_and_leaves_the_number(doors: Doors) -> None:
    await doors.small_world()
    ada = await doors.person(1)
    version = ok(await ada.get("/v1/me"))["version"]
    ok(await ada.post("/v1/inbox/seen", json={"version": version}))
    me = ok(await ada.get("/v1/me"))
    assert (me["unread_count"], me["unseen"]) == (1, False)


async def test_I5_reading_on_the_hosts_page_reads_the_notification(doors: Doors) -> None:
    await doors.small_world()
    ada = await doors.person(1)
    assert ok(await ada.post("/v1/read", json={"post": "c1"}))["unread_count"] == 0
    await doors.comment("c2", "@ada again", 2)
    ok(await ada.post("/v1/read", json={"thread": "org/repo#1"}))
    await doors.relay()
    assert ok(await ada.get("/v1/me"))["unread_count"] == 0


async def test_I6_an_inbox_that_is_the_same_is_not_sent_again(doors: Doors) -> None:
    await doors.small_world()
    ada = await doors.person(1)
    for path in ("/v1/me", "/v1/inbox", "/v1/inbox?tab=all", f"/v1/inbox/{await _thread(doors)}"):
        first = await ada.get(path)
        again = await ada.get(path, headers={"If-None-Match": f'"other", {first.headers["etag"]}'})
        assert (again.status_code, again.content) == (304, b""), path
        assert again.headers["etag"] == first.headers["etag"]
        assert (await ada.get(path, headers={"If-None-Match": '"other"'})).status_code == 200
    before = (await ada.get("/v1/me")).headers["etag"]
    await doors.comment("c2", "@ada again", 2)
    await doors.relay()
    assert (await ada.get("/v1/me", headers={"If-None-Match": before})).status_code == 200


async def _thread(doors: Doors) -> str:
    ada = await doors.person(1)
    return str(ok(await ada.get("/v1/inbox"))["rows"][0]["thread"])


async def test_choices_change_what_is_heard(doors: Doors) -> None:
    await doors.small_world()
    cy = await doors.person(3)
    ok(await cy.put("/v1/watches/10", json={"level": "all"}))
    ok(await cy.put("/v1/mutes/2"))
    await doors.comment("c2", "hm", 2)
    await doors.comment("c3", "hm", 1)
    await doors.relay()
    (row,) = ok(await cy.get("/v1/inbox"))["rows"]
    assert (row["posts_unread"], row["actor"], row["reason"]) == (1, "1", "watching")
    ok(await cy.delete("/v1/mutes/2"))
    ok(await cy.put("/v1/blocks/1"))
    assert ok(await cy.get("/v1/me"))["unread_count"] == 0
    ok(await cy.delete("/v1/blocks/1"))
    ok(await cy.put("/v1/subscriptions/org%2Frepo%231"))
    assert ok(await cy.delete("/v1/subscriptions/org%2Frepo%231"))["changed"] == 1
    ok(await cy.delete("/v1/watches/10"))
    assert ok(await cy.patch("/v1/me/choices", json={"own": True}))["changed"] == 1
    await doors.comment("c4", "hm", 1)
    await doors.relay()
    assert ok(await cy.get("/v1/me"))["unread_count"] == 0


async def test_W16_the_host_asks_why(doors: Doors) -> None:
    await doors.small_world()
    event = (await doors.comment("c2", "@ada once more", 2))["event"]
    await doors.relay()
    why = ok(await doors.host.get(f"/v1/events/{event}/why/1"))
    assert (why["event"], why["type"], why["reasons"]) == (event, "comment.created", ["mentioned"])
    assert {rule["verdict"] for rule in why["now"]} <= {"passed", "stopped", "not reached"}
    assert why["sentence"].startswith("ada ")
