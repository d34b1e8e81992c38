"""The inbox page: plain HTML, forms of its own, and nothing that somebody wrote runs in it."""

import re
from pathlib import Path

import pytest
from httpx2 import AsyncClient, Response

from clarion.web import pages
from support.doors import BASE, Doors, ok

SAME = {"Sec-Fetch-Site": "same-origin"}


def field(page: Response, name: str) -> str:
    """The value of a hidden field of a form."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page.text)
    assert found, f"no field {name}"
    return found[1]


async def ada(doors: Doors) -> AsyncClient:
    return await doors.browser(await doors.token(1))


async def test_it_shows_what_is_unread_with_the_reason_in_words(doors: Doors) -> None:
    await doors.small_world()
    await doors.comment("c2", "@ada more", 2)
    await doors.relay()
    page = await (await ada(doors)).get("/")
    assert page.status_code == 200
    assert "<title>(1) Inbox · Clarion</title>" in page.text
    for text in ("1 unread", "You were mentioned", "org/repo", "@bo, comment", "2 new", "Mark all as read"):
        assert text in page.text, text
    assert 'href="https://x.example/1"' in page.text


async def test_what_people_write_is_escaped(doors: Doors) -> None:
    await doors.small_world()
    ok(await doors.host.put("/v1/spaces/10", json={"name": "<i>s</i>", "visibility": "public"}))
    page = await (await ada(doors)).get("/")
    assert "It &lt;b&gt;broke&lt;/b&gt;" in page.text
    assert "<b>" not in page.text
    assert "<i>" not in page.text


@pytest.mark.parametrize(
    "link",
    ["javascript:alert(1)", "data:text/html,x", "//evil.example", "/\\evil.example", "http://[", "JaVaScRiPt:x", "x"],
)
async def test_a_link_that_leads_astray_is_none(doors: Doors, link: str) -> None:
    await doors.small_world()
    ok(await doors.host.patch("/v1/threads/org%2Frepo%231", json={"link": link}))
    await doors.relay()
    page = await (await ada(doors)).get("/")
    assert "broke" in page.text
    assert "<h2>\n              <a" not in page.text
    assert link not in page.text or link == "x"


async def test_every_page_lets_nothing_else_in(doors: Doors) -> None:
    await doors.small_world()
    browser = await ada(doors)
    for path in ("/", "/login?token=x", "/nothing", "/docs", "/?tab=wrong"):
        page = await browser.get(path)
        policy = page.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["x-content-type-options"] == "nosniff"
        for inline in ("<script", "style=", " onclick", "<style", "javascript:"):
            assert inline not in page.text
        for url in re.findall(r'(?:src|rel="stylesheet" href)="([^"]+)"', page.text):
            assert url.startswith("/")
    style = await browser.get("/static/clarion.css")
    assert style.headers["content-type"].startswith("text/css")
    assert "url(" not in style.text
    again = await browser.get("/static/clarion.css", headers={"If-None-Match": style.headers["etag"]})
    assert again.status_code == 304


async def test_forms_mark_and_come_back_to_the_list(doors: Doors) -> None:
    await doors.small_world()
    browser = await ada(doors)
    thread = field(await browser.get("/"), "thread")
    for mark, tab, shown in (
        ("read", "unread", False),
        ("unread", "unread", True),
        ("save", "saved", True),
        ("unsave", "saved", False),
        ("done", "done", True),
        ("undone", "done", False),
    ):
        back = await browser.post("/mark", data={"mark": mark, "thread": thread, "tab": tab})
        assert (back.status_code, back.headers["location"]) == (303, f"/?tab={tab}")
        assert ("broke" in (await browser.get(back.headers["location"])).text) is shown, mark
    empty = await browser.get("/")
    assert "All caught up." in empty.text
    assert "Mark all" not in empty.text


async def test_mark_all_can_be_undone(doors: Doors) -> None:
    await doors.small_world()
    browser = await ada(doors)
    page = await browser.get("/")
    marked = await browser.post("/mark-all", data={"cutoff": field(page, "cutoff"), "tab": "all"})
    page = await browser.get(marked.headers["location"])
    assert "0 unread" in page.text
    undone = await browser.post("/undo", data={"undo": field(page, "undo"), "tab": "all"})
    assert "1 unread" in (await browser.get(undone.headers["location"])).text


async def test_I7_what_may_no_longer_be_read_is_a_placeholder_that_can_be_put_away(doors: Doors) -> None:
    await doors.small_world()
    browser = await ada(doors)
    ok(await doors.host.put("/v1/spaces/10", json={"name": "org/repo", "visibility": "private"}))
    page = await browser.get("/")
    assert "You can no longer read this" in page.text
    assert "1 unread" in page.text
    assert "broke" not in page.text
    await browser.post("/mark", data={"mark": "done", "thread": field(page, "thread")})
    assert "0 unread" in (await browser.get("/")).text


async def test_long_lists_go_on_by_pages(doors: Doors) -> None:
    await doors.people("ada")
    for number in range(pages.ROWS + 1):
        ok(await doors.host.post("/v1/notify", json={"to": [1], "title": f"Message {number:02}"}))
    await doors.relay()
    browser = await ada(doors)
    first = await browser.get("/")
    older = re.search(r'rel="next" href="([^"]+)"', first.text)
    assert older
    second = await browser.get(older[1].replace("&amp;", "&"))
    shown = [set(re.findall(r"Message \d\d", page.text)) for page in (first, second)]
    assert [len(each) for each in shown] == [pages.ROWS, 1]
    assert not shown[0] & shown[1]
    assert "Newest" in second.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": BASE},
        {"Sec-Fetch-Site": "same-site", "Origin": BASE},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {},
    ],
)
async def test_a_form_from_elsewhere_changes_nothing(doors: Doors, headers: dict[str, str]) -> None:
    await doors.small_world()
    browser = await ada(doors)
    page = await browser.get("/")
    del browser.headers["Sec-Fetch-Site"]
    for path in ("/mark", "/mark-all", "/undo", "/logout", "/login"):
        data = {"mark": "read", "thread": field(page, "thread"), "cutoff": field(page, "cutoff"), "token": "x"}
        assert (await browser.post(path, data=data, headers=headers)).status_code == 403, path
    assert "1 unread" in (await browser.get("/")).text


async def test_an_older_browser_names_its_origin(doors: Doors) -> None:
    await doors.small_world()
    browser = await ada(doors)
    page = await browser.get("/")
    del browser.headers["Sec-Fetch-Site"]
    data = {"mark": "read", "thread": field(page, "thread")}
    assert (await browser.post("/mark", data=data, headers={"Origin": BASE})).status_code == 303


async def test_another_persons_row_is_not_there(doors: Doors) -> None:
    await doors.small_world()
    thread = field(await (await ada(doors)).get("/"), "thread")
    cy = await doors.browser(await doors.token(3))
    for number in (thread, "424242"):
        refused = await cy.post("/mark", data={"mark": "done", "thread": number})
        assert refused.status_code == 404
    assert "All caught up." in (await cy.get("/")).text


async def test_a_link_signs_in_once(doors: Doors) -> None:
    await doors.small_world()
    token = await doors.token(1)
    browser = await doors.browser()
    assert "Sign in" in (await browser.get("/")).text
    for _ in range(2):
        assert field(await browser.get("/login", params={"token": token}), "token") == token
    signed_in = await browser.post("/login", data={"token": token})
    cookie = signed_in.headers["set-cookie"]
    assert token not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "1 unread" in (await browser.get("/")).text
    assert (await (await doors.browser()).post("/login", data={"token": token})).status_code == 401
    assert (await (await doors.client(token)).get("/v1/me")).status_code == 401
    kept = browser.cookies["clarion_token"]
    await browser.post("/logout")
    assert "Sign in" in (await browser.get("/")).text
    assert (await (await doors.client(kept)).get("/v1/me")).status_code == 401


async def test_the_hosts_key_is_no_way_in(doors: Doors) -> None:
    browser = await doors.browser()
    assert (await browser.post("/login", data={"token": "the host's key"})).status_code == 401


async def test_forms_need_somebody_who_is_signed_in(doors: Doors) -> None:
    browser = await doors.browser()
    for path in ("/mark", "/mark-all", "/undo"):
        refused = await browser.post(path)
        assert refused.status_code == 401
        assert refused.headers["content-type"].startswith("text/html")


async def test_the_demo_lets_in_who_sits_at_this_machine(demo: Doors) -> None:
    await demo.small_world()
    browser = await demo.browser()
    assert "come in as ada" in (await browser.get("/")).text
    entered = await browser.get("/?as=Ada")
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    assert "1 unread" in (await browser.get("/")).text
    assert ok(await browser.get("/v1/me"))["person"] == "1"
    assert (await browser.get("/?as=nobody")).status_code == 404
    assert (await browser.post("/v1/inbox/seen", json={"version": 0})).status_code == 200
    crossing = await browser.post("/v1/inbox/seen", json={"version": 0}, headers={"Sec-Fetch-Site": "cross-site"})
    assert crossing.status_code == 401


@pytest.mark.parametrize(
    ("address", "base"), [("10.0.0.7", BASE), ("127.0.0.1", "http://rebound.example:8500"), ("", BASE)]
)
async def test_the_demo_lets_in_nobody_else(demo: Doors, address: str, base: str) -> None:
    await demo.small_world()
    stranger = await demo.client(address=address, base=base)
    assert (await stranger.get("/?as=ada")).status_code == 403


async def test_outside_the_demo_a_name_lets_nobody_in(doors: Doors) -> None:
    await doors.small_world()
    browser = await doors.browser()
    page = await browser.get("/?as=ada")
    assert "Token" in page.text
    assert not browser.cookies
    await browser.post("/login", data={"token": await doors.token(1)})
    assert (await browser.get("/v1/me")).status_code == 401, "the cookie is the page's alone"


def test_the_templates_leave_escaping_to_nobody() -> None:
    folder = Path(pages.__file__).parent / "templates"
    for template in folder.glob("*.html"):
        assert "safe" not in template.read_text(encoding="utf-8"), template
