"""The peers that are measured beside Clarion, each at its best: as its own documentation sets it up."""

import time
from typing import Any, Self

import asyncpg  # type: ignore[import-untyped]
from pgqueuer import QueueManager
from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

ENTRYPOINT = "bench"


class Pgqueuer:
    """pgqueuer on asyncpg, with an empty entrypoint."""

    def __init__(self, url: str, connection: Any) -> None:
        self._url = url
        self._connection = connection

    @classmethod
    async def install(cls, url: str) -> Self:
        """Connect and make its tables in the database."""
        connection = await asyncpg.connect(url)
        await Queries(AsyncpgDriver(connection)).install()
        return cls(url, connection)

    async def fill(self, jobs: int) -> None:
        """Enqueue so many jobs."""
        queries = Queries(AsyncpgDriver(self._connection))
        await queries.enqueue([ENTRYPOINT] * jobs, [b'{"row": 1}'] * jobs, [0] * jobs)

    async def drain(self, batch: int) -> float:
        """Work the queue off; return the seconds from the first job to the end of the last batch."""
        connection = await asyncpg.connect(self._url)
        manager = QueueManager(Queries(AsyncpgDriver(connection)))
        began: list[float] = []

        @manager.entrypoint(ENTRYPOINT)
        async def empty(_: Job) -> None:
            if not began:
                began.append(time.perf_counter())

        try:
            await manager.run(batch_size=batch, mode=QueueExecutionMode.drain)
            return time.perf_counter() - began[0]
        finally:
            await connection.close()

    async def close(self) -> None:
        """Leave the database."""
        await self._connection.close()
