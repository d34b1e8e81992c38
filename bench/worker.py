"""A relay in a process of its own, with an empty consumer: `python -m bench.worker URL TYPE`, until stdin closes."""

import asyncio
import sys

from bench.relaying import Empty
from clarion.store.database import Database
from clarion.work.crew import Crew
from clarion.work.wake import Signals


async def work(url: str) -> None:
    async with Database(url) as database:
        crew = Crew(database, Signals(database), Empty(), relays=1, batch=100, poll_seconds=2.0)
        crew.start()
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await crew.stop()


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1]))
