"""Requests that are made once however often they are sent (O11).

Kept here: what a POST with an Idempotency-Key did and what was answered commit together; the second of two at
once waits for the first and gets its answer. A request that was refused changed nothing and is not remembered.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from clarion.api.errors import IdempotencyKeyReused
from clarion.store.database import Command
from clarion.store.queries import ask

MAX_KEY_CHARS = 200

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered with."""

    status: int
    body: str
    repeated: bool = False
    """Whether it was given before, to the same request."""


@dataclass(frozen=True, slots=True)
class Once:
    """A request that is to be made once: its key, for its caller alone, and what it asks for."""

    key: str
    digest: bytes

    @classmethod
    def of(cls, caller: str, key: str, method: str, path: str, body: bytes) -> "Once":
        """Return the request by its caller's name, its Idempotency-Key and all that it asks for."""
        scope = sha256(caller.encode("utf-8", "surrogateescape")).hexdigest()
        asked = f"{method} {path}\n".encode("utf-8", "surrogatepass") + body
        return cls(f"{scope}:{key}", sha256(asked).digest())


def do_once(once: Once | None, command: Command[T], present: Callable[[T], Answer]) -> Command[Answer]:
    """Run a command and return its answer; or, when this very request was made before, the answer of then.

    Transaction: the caller's. Raises: what the command raises, `IdempotencyKeyReused` when the key came with
    another request. Cost: two statements more.
    """
    if once is None:
        return present((yield from command))
    while not (yield ask("claim_request", key=once.key, digest=once.digest)):
        rows = yield ask("find_request", key=once.key)
        if not rows:
            continue
        command.close()
        if rows[0]["digest"] != once.digest:
            raise IdempotencyKeyReused("this Idempotency-Key came before with another request: use a new one for each")
        return Answer(rows[0]["status"], rows[0]["body"], repeated=True)
    answer = present((yield from command))
    yield ask("keep_answer", key=once.key, status=answer.status, body=answer.body)
    return answer
