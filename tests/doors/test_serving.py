"""A real server on loopback: it answers, stops when told, and leaves its port."""

from pathlib import Path

import pytest
from httpx2 import Client
from pydantic import SecretStr

from clarion.cli.exits import PortTaken
from clarion.cli.serving import bound
from clarion.config import Settings
from support.doors import API_KEY
from support.served import served


def test_it_serves_and_frees_its_port(database_url: str) -> None:
    settings = Settings(database_url=database_url, api_key=SecretStr(API_KEY))
    with served(settings, demo=True) as base, Client(base_url=base) as client:
        host = {"Authorization": f"Bearer {API_KEY}"}
        assert client.put("/v1/people/1", json={"handle": "ada"}, headers=host).status_code == 201
        key = client.put("/v1/spaces/10", json={"name": "s", "visibility": "public"}, headers=host)
        assert key.json()["key"] == "10"
        thread = {"space": 10, "kind": "issue", "title": "t"}
        assert client.put("/v1/threads/a%2Fb%231", json=thread, headers=host).json()["key"] == "a/b#1"
        assert client.get("/healthz").json() == {"status": "ok"}
        page = client.get("/?as=ada", follow_redirects=True)
        assert "All caught up." in page.text
        port = int(base.rpartition(":")[2])
        with pytest.raises(PortTaken, match=str(port)), bound("127.0.0.1", port):
            pass
    with bound("127.0.0.1", port):
        pass


def test_it_ships_its_templates_and_style() -> None:
    folder = Path(__file__).parents[2] / "src" / "clarion" / "web"
    assert {path.name for path in folder.rglob("*.html")} >= {"inbox.html", "docs.html", "sign_in.html", "error.html"}
    assert (folder / "static" / "clarion.css").exists()
