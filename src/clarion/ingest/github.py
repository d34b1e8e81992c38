"""GitHub's payloads in: each read, and applied in one transaction, or named with the reason why not.

Kept here: a payload changes everything that it says, or nothing. The same bytes again change nothing: they are
remembered as long as answers to repeated requests are (O11), and after that every value is what is so already.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from clarion.ingest import commands as to
from clarion.ingest.github_apply import apply_commands
from clarion.ingest.github_payload import ForeignPayload, Ignored, read_payload
from clarion.ingest.github_words import say
from clarion.model.errors import ClarionError, Gone
from clarion.store.connect.refusals import refusals_as_ours
from clarion.store.database import Command
from clarion.store.queries import ask
from clarion.work.change import Changes

__all__ = ["Applied", "Broken", "Ignored", "Outcome", "ingest"]


@dataclass(frozen=True, slots=True)
class Applied:
    """A payload that was applied: what it said, in words, and the events that tell of it."""

    what: str
    events: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """Bytes that are no payload of GitHub's, or say what cannot be here; nothing was changed."""

    why: str


Outcome = Applied | Ignored | Broken


async def ingest(changes: Changes, content: bytes, *, name: str = "", event: str | None = None) -> Outcome:
    """Read one payload and apply it; `name` and `event` as in `read_payload`.

    Transaction: one of its own. Raises: the database's errors, nothing that the payload can cause.
    """
    try:
        values = read_payload(content, name=name, event=event)
    except ForeignPayload as error:
        return Broken(str(error))
    if isinstance(values, Ignored):
        return values
    try:
        with refusals_as_ours():
            return await changes.insist(lambda: _apply_once(content, values))
    except Gone as error:
        return Ignored(str(error))
    except ClarionError as error:
        return Broken(str(error))


def _apply_once(content: bytes, values: Sequence[to.Command]) -> Command[Outcome]:
    digest = hashlib.sha256(content).digest()
    if not (yield ask("remember_payload", key=f"github:{digest.hex()}", digest=digest)):
        return Ignored("it was applied before")
    events = yield from apply_commands(values)
    return Applied(say(values), tuple(events))
