"""The description of the API: OpenAPI 3.1, complete, from the routes themselves."""

from typing import Any

from fastapi import FastAPI

DESCRIPTION = """
Clarion keeps a person's inbox: one notification a thread, with a reason, and a badge that is never wrong.

**Two kinds of callers.** Your programs use an API key: they write people, spaces, threads and posts, publish
events, and issue tokens. A person's token reads and changes that person's inbox, and nothing else. Both are sent as
`Authorization: Bearer …`.

**Your own keys** name people, spaces, threads and posts, in URLs percent-encoded (`org/repo#12` is
`org%2Frepo%2312`). All ids and keys in answers are strings.

**Repeating is safe.** PUT, PATCH and DELETE can be repeated as they are. A POST takes an `Idempotency-Key`.

**Errors** have the body `{"error": {"code": …, "message": …}}`. The codes are stable.
""".strip()

TAGS = [
    {"name": "people", "description": "People (your users) and their tokens."},
    {"name": "organisations", "description": "Organisations and teams: what @org/team names."},
    {"name": "spaces", "description": "Spaces (repository, project, channel): what can be watched, and read or not."},
    {"name": "threads", "description": "Threads (what it is about) and who has a role in them."},
    {"name": "posts", "description": "Comments and reviews."},
    {"name": "events", "description": "Events of your own, messages, and why somebody hears."},
    {"name": "inbox", "description": "A person's own inbox."},
    {"name": "choices", "description": "What a person chooses to hear."},
    {"name": "operate", "description": "The outbox, seen and moved by hand."},
    {"name": "health", "description": "For supervisors and Prometheus; no credential."},
]


class Documented(FastAPI):
    """An app whose operations are summed up by the first line of what they promise."""

    def openapi(self) -> dict[str, Any]:
        """Return the description of all routes."""
        if not self.openapi_schema:
            for path in super().openapi()["paths"].values():
                for operation in path.values():
                    summary, _, _ = operation["description"].partition("\n\n")
                    operation["summary"] = " ".join(summary.split()).rstrip(".")
        assert self.openapi_schema is not None  # noqa: S101 - for types; FastAPI keeps it
        return self.openapi_schema
