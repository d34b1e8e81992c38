"""The description of the API is complete, and the API keeps to it whatever it is sent."""

from typing import Any

import pytest
import schemathesis
from httpx2 import Client
from hypothesis import HealthCheck, Phase, given, settings
from pydantic import SecretStr
from requests import Session
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from clarion.api import create_app
from clarion.config import Settings
from clarion.engine import Engine
from support.doors import API_KEY, Doors
from support.served import served

CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
DESCRIPTION: dict[str, Any] = create_app(Engine(Settings())).openapi()
OPERATIONS = [
    (f"{method.upper()} {path}", operation)
    for path, methods in DESCRIPTION["paths"].items()
    for method, operation in methods.items()
]


@pytest.mark.parametrize(("route", "operation"), OPERATIONS, ids=[route for route, _ in OPERATIONS])
def test_every_route_is_described(route: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert not operation["summary"].endswith(".")
    assert operation["description"].endswith(".")
    assert operation["tags"]
    successes = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
    for answer in successes:
        (content,) = answer["content"].values()
        assert content.get("schema") or route == "GET /metrics", "what it answers with"
    if " /v1/" in route:
        assert operation["security"] in ([{"host_key": []}], [{"person_token": []}])
        assert {"401", "403", "413", "422", "503"} <= set(operation["responses"])
    if route.startswith("POST "):
        names = {each["name"].lower() for each in operation["parameters"]}
        assert "idempotency-key" in names
    for parameter in operation.get("parameters", ()):
        assert parameter.get("description"), parameter["name"]


def test_operation_ids_are_stable_words_and_each_is_one_operations() -> None:
    ids = [operation["operationId"] for _, operation in OPERATIONS]
    assert len(set(ids)) == len(ids)
    assert all(each.replace("_", "").isalpha() and each.islower() for each in ids)


def test_every_field_of_every_body_is_typed() -> None:
    for name, schema in DESCRIPTION["components"]["schemas"].items():
        assert schema.get("description"), name
        for field, each in schema.get("properties", {}).items():
            assert each.keys() & {"type", "anyOf", "$ref", "enum", "const"}, (name, field)


def test_the_description_names_no_rule_of_ours_by_number() -> None:
    assert "(O11)" not in str(DESCRIPTION)


async def test_the_documentation_page_shows_every_operation_and_loads_nothing_from_elsewhere(doors: Doors) -> None:
    page = await doors.anybody.get("/docs")
    assert page.status_code == 200
    for _, operation in OPERATIONS:
        assert f'id="{operation["operationId"]}"' in page.text
    assert "http://" not in page.text
    assert "https://" not in page.text
    assert "<script" not in page.text
    assert "style=" not in page.text
    assert (await doors.anybody.get("/openapi.json")).json() == DESCRIPTION


def test_nothing_that_is_sent_brings_the_server_down(database_url: str) -> None:
    settings_ = Settings(database_url=database_url, api_key=SecretStr(API_KEY))
    with served(settings_) as base, Client(base_url=base) as client, Session() as session:
        host = {"Authorization": f"Bearer {API_KEY}"}
        assert client.put("/v1/people/1", json={"handle": "ada"}, headers=host).is_success
        token = client.post("/v1/people/1/tokens", headers=host).json()["token"]
        secrets = {"host_key": API_KEY, "person_token": token}
        described = schemathesis.openapi.from_dict(DESCRIPTION)
        for route, raw in OPERATIONS:
            method, _, path = route.partition(" ")
            kind = next((name for each in raw.get("security", ()) for name in each), None)
            headers = {"Authorization": f"Bearer {secrets[kind]}"} if kind else {}
            for mode in GenerationMode if kind else (GenerationMode.POSITIVE,):
                strategy = described[path][method].as_strategy(generation_mode=mode)
                _try(strategy, base_url=base, headers=headers, session=session, checks=CHECKS)


def _try(strategy: Any, **options: Any) -> None:
    @settings(
        max_examples=3,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def tries(case: Any) -> None:
        case.call_and_validate(**options)

    tries()
