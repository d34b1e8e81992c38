"""A process with a crew of relays over the tests' consumer: says what it does a line a time, drains on SIGTERM.

Told to stop at a barrier, it says so and stops itself (SIGSTOP); told to go on (SIGCONT), it stops there no more.
"""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import structlog

from clarion.model.event import Event
from clarion.model.happening import Happening, Reading
from clarion.notifier import Notifier
from clarion.store.database import Database
from clarion.work.crew import Crew
from clarion.work.wake import Signals
from support.relay_effects import Effects


async def comments(_: Reading, events: Sequence[Event]) -> dict[int, Happening]:
    """Comments by person 1, each in the thread and with the key that its event names."""
    return {
        event.id: Happening(
            thread=event.thread_key or "", space=1, post=event.post_key, actor=1, title="A title", text="hello @bo"
        )
        for event in events
    }


def say(word: str) -> None:
    os.write(1, f"{word}\n".encode())


async def work(url: str, options: dict[str, Any]) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    stop_at: str | None = options.get("stop_at")

    def barrier(point: str) -> None:
        nonlocal stop_at
        if point == stop_at:
            stop_at = None
            say(point)
            os.kill(os.getpid(), signal.SIGSTOP)

    async with Database(url) as database:
        crew = Crew(
            database,
            Signals(database),
            Notifier({"comment.created": comments}, "bigint") if options.get("notifier") else Effects(),
            relays=options.get("relays", 1),
            batch=options.get("batch", 50),
            poll_seconds=options.get("poll", 0.2),
        )
        for relay in crew.relays:
            relay._barrier = barrier
        crew.start()
        say("ready")
        await stop.wait()
        say("draining")
        await crew.stop()
    say("drained")


if __name__ == "__main__":
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    asyncio.run(work(sys.argv[1], json.loads(sys.argv[2])))
