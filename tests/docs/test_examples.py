"""What the pages show is run, from their own text, against the real thing."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy
from fastapi import FastAPI
from httpx2 import ASGITransport, AsyncClient
from sqlalchemy.ext.asyncio import AsyncEngine

from clarion.config import Settings
from clarion.engine import Engine
from docs.examples import heard, run_page, serving, with_people
from docs.generate import DOCS, ROOT, pages
from docs.reading import blocks

WITH_A_SERVER = DOCS / "tutorials" / "small-forge.md"
WITH_AN_APP = (ROOT / "README.md", DOCS / "tutorials" / "first-notification.md")
RUN = [page for page in pages() if page != WITH_A_SERVER and any(block.runs for block in blocks(page))]


@pytest.fixture
def reader(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A reader in an empty folder, whose database has the schema, and Ada and Bo as people 7 and 8."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLARION_DATABASE_URL", database_url)
    monkeypatch.setenv("CLARION_API_KEY", "secret")

    async def prepare() -> None:
        async with Engine(Settings(database_url=database_url)) as engine:
            await with_people(engine)

    asyncio.run(prepare())
    return database_url


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page: Path, reader: str) -> None:
    module = run_page(page, reader)
    if page in WITH_AN_APP:
        asyncio.run(_finish_an_export(module.app, module.clarion.engine, module.db))
    for value in vars(module).values():
        if isinstance(value, sqlalchemy.Engine):
            value.dispose()


async def _finish_an_export(app: FastAPI, engine: Engine, db: AsyncEngine) -> None:
    """What the reader of an app's page does: has an export finished, and sees it in the inbox of its owner."""
    transport = ASGITransport(app=app)
    async with app.router.lifespan_context(app), AsyncClient(transport=transport, base_url="http://app") as client:
        answer = await client.post("/exports/3/finish?owner=7")
        assert answer.status_code == 200, answer.text
        rows = await heard(engine, 7, 1)
        assert "Your export is ready" in {row.title for row in rows}
        why = await engine.why(answer.json()["event"], 7)
        assert why.reasons == ("addressed",)
    await db.dispose()


def test_the_small_forge_is_played_by_http(reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Settings(database_url=reader, api_key="secret")) as url:  # type: ignore[arg-type]
        monkeypatch.setenv("INBOX_URL", url)
        module = run_page(WITH_A_SERVER, reader)
    assert module.inbox["state"]["unread_count"] == 1
    assert module.inbox["rows"][0]["reason"] == "mentioned"
