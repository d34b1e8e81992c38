"""The documentation page, from an OpenAPI description: server-rendered, offline, searchable by the browser."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.types import Scope

from clarion.web.answers import render


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a body."""

    name: str
    place: str
    type: str
    required: bool
    text: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as the page shows it."""

    id: str
    method: str
    path: str
    summary: str
    text: Sequence[str]
    access: str
    parameters: Sequence[Field]
    body: Sequence[Field]
    body_types: Sequence[str]
    answers: Sequence[tuple[str, str, Sequence[Field]]]


@dataclass(frozen=True, slots=True)
class Section:
    """The operations of a tag."""

    name: str
    text: str
    operations: Sequence[Operation]


def show_documentation(scope: Scope, openapi: Mapping[str, Any]) -> Response:
    """Return the page."""
    info = openapi["info"]
    return render(
        scope,
        "docs.html",
        title=info["title"],
        summary=info["summary"],
        paragraphs=_paragraphs(info["description"]),
        sections=_sections(openapi),
    )


def _sections(openapi: Mapping[str, Any]) -> list[Section]:
    by_tag: dict[str, list[Operation]] = {tag["name"]: [] for tag in openapi["tags"]}
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            by_tag[operation["tags"][0]].append(_operation(openapi, path, method, operation))
    return [Section(tag["name"], tag["description"], by_tag[tag["name"]]) for tag in openapi["tags"]]


def _operation(openapi: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any]) -> Operation:
    content = operation.get("requestBody", {}).get("content", {})
    schema: Mapping[str, Any] = next((each["schema"] for each in content.values()), {})
    access = {name for each in operation.get("security", ()) for name in each}
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        text=_paragraphs(operation["description"])[1:],
        access=" or ".join(sorted(access)).replace("_", " ") or "no credential",
        parameters=[_parameter(openapi, each) for each in operation.get("parameters", ())],
        body=_fields(openapi, schema),
        body_types=tuple(content),
        answers=[_answer(openapi, status, each) for status, each in sorted(operation["responses"].items())],
    )


def _answer(openapi: Mapping[str, Any], status: str, answer: Mapping[str, Any]) -> tuple[str, str, Sequence[Field]]:
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    return status, answer["description"], _fields(openapi, schema) if status.startswith("2") else ()


def _parameter(openapi: Mapping[str, Any], given: Mapping[str, Any]) -> Field:
    schema = given["schema"]
    text = given.get("description") or schema.get("description", "")
    return Field(given["name"], given["in"], _type(openapi, schema), given.get("required", False), text)


def _fields(openapi: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Field]:
    resolved = _resolve(openapi, schema)
    required = resolved.get("required", ())
    return [
        Field(name, "", _type(openapi, each), name in required, each.get("description", ""))
        for name, each in resolved.get("properties", {}).items()
    ]


def _type(openapi: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    resolved = _resolve(openapi, schema)
    kind = resolved.get("type", "anything")
    if choices := resolved.get("enum"):
        text = " | ".join(str(choice) for choice in choices)
    elif "const" in resolved:
        text = str(resolved["const"])
    elif several := resolved.get("anyOf"):
        text = " or ".join(dict.fromkeys(_type(openapi, each) for each in several))
    elif isinstance(kind, list):
        text = " or ".join(kind)
    elif kind == "array":
        text = f"list of {_type(openapi, resolved.get('items', {}))}"
    elif kind == "object" and "$ref" in schema:
        text = str(schema["$ref"]).rpartition("/")[2].removesuffix("Out").removesuffix("In")
    else:
        text = str(resolved.get("format", kind))
    return text


def _resolve(openapi: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    found: Mapping[str, Any] = openapi["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.replace("**", "").replace("`", "").split("\n\n")]
