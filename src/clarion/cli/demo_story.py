"""The demo's story: the shipped sample of a forge, and what its people chose before and meanwhile.

Kept here: playing it again changes nothing.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from clarion.content.threads import share_thread
from clarion.engine import Engine
from clarion.inbox import choices
from clarion.ingest import commands as to
from clarion.ingest.github import ingest
from clarion.ingest.github_apply import apply_commands
from clarion.ingest.github_payload import Ignored, read_payload
from clarion.model.errors import NotFound
from clarion.model.inbox import WatchLevel
from clarion.outbox.publish import notify
from clarion.store.database import Command
from clarion.work.relay import Relay
from clarion.work.wake import Wake

ADA, BO, CHIDI, DARA, EMIL, FEN, GRACE, HANA = range(9011, 9019)
HARBOR, KEEL = 9101, 9102
BOT = 9031
CLOCKS = "9101#1"
"""The thread that everything begins with."""

MESSAGE: Final = "demo"
"""The key of the last thing that happens: where it is there, all of the story is."""


@dataclass(frozen=True, slots=True)
class Question:
    """Why somebody does not hear of an event, which is found by what it tells of."""

    person: int
    type: str
    thread: str
    post: str | None = None


WHY_NOT: Final = (
    Question(BO, "thread.opened", CLOCKS),
    Question(ADA, "comment.created", CLOCKS, "comment:80001"),
    Question(HANA, "thread.changed", CLOCKS),
    Question(DARA, "comment.created", "9101#2", "comment:80006"),
    Question(CHIDI, "comment.created", "9101#2", "comment:80007"),
    Question(GRACE, "comment.created", CLOCKS, "comment:80008"),
    Question(EMIL, "thread.opened", "9103#1"),
    Question(EMIL, "comment.created", "9101#3", "comment:80017"),
)
"""One for each rule that the story meets."""

_BEFORE: Final[tuple[Callable[[], Command[Any]], ...]] = (
    lambda: choices.watch(GRACE, HARBOR, WatchLevel.ALL),
    lambda: choices.watch(HANA, HARBOR, WatchLevel.ALL),
    lambda: choices.watch(DARA, HARBOR, WatchLevel.ALL),
    lambda: choices.watch(EMIL, KEEL, WatchLevel.IGNORE),
    lambda: choices.block(DARA, FEN),
    lambda: choices.mute(CHIDI, BOT),
)


def _grace_has_enough() -> Command[Any]:
    thread = yield from choices.find_thread(CLOCKS)
    return (yield from choices.unsubscribe(GRACE, thread))


_AFTER: Final[Mapping[str, Callable[[], Command[Any]]]] = {"018": _grace_has_enough}
"""What somebody chooses after the payload of this number."""


def sample() -> list[tuple[str, bytes]]:
    """Return the shipped payloads in order, with their names."""
    folder = files("clarion.ingest").joinpath("sample")
    return sorted((file.name, file.read_bytes()) for file in folder.iterdir() if file.name.endswith(".json"))


async def was_played(engine: Engine) -> bool:
    """Whether the story is there, to its end."""
    try:
        await engine.changes.run(share_thread(f"notify:{MESSAGE}"))
    except NotFound:
        return False
    return True


async def play(engine: Engine) -> AsyncIterator[int]:
    """Play the story, relaying each step before the next, and tell after each how many events were handled."""
    payloads = sample()
    await engine.changes.run(apply_commands(_people_and_places(payloads)))
    for choose in _BEFORE:
        await engine.changes.run(choose())
    async with _relay(engine) as relay_all:
        for name, content in payloads:
            await ingest(engine.changes, content, name=name)
            yield await relay_all()
            if choose_now := _AFTER.get(name.partition(".")[0]):
                await engine.changes.run(choose_now())
        await engine.changes.run(
            notify(
                [ADA],
                kind="export.ready",
                title="Your export of the sailing list is ready",
                link="https://forge.example/exports/3",
                idempotency_key=MESSAGE,
            )
        )
        yield await relay_all()


@asynccontextmanager
async def _relay(engine: Engine) -> AsyncIterator[Callable[[], Awaitable[int]]]:
    """Something that relays what is due, over two connections for the whole story."""
    main = await engine.database.connect("relay", autocommit=False)
    notes = await engine.database.connect("relay notes")

    async def relay_all() -> int:
        relay, total = Relay(engine.database, engine.notifier, Wake()), 0
        while moved := await relay.turn(main, notes):
            total += moved
        return total

    async with main.connection, notes.connection:
        yield relay_all


def _people_and_places(payloads: list[tuple[str, bytes]]) -> list[to.Command]:
    """Return what the story needs to be there before anybody can choose to watch it."""
    ensured: dict[to.Command, None] = {}
    for name, content in payloads:
        values = read_payload(content, name=name)
        for value in () if isinstance(values, Ignored) else values:
            if isinstance(value, to.EnsurePerson | to.EnsureOrganisation | to.EnsureSpace):
                ensured.setdefault(value)
    return list(ensured)
