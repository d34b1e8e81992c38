"""O8: signals wake relays, and losing them costs latency only."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from clarion.store.database import Database, Session
from clarion.store.listen import Deaf, listen
from clarion.work.relay import Relay
from clarion.work.wake import Signals, Wake
from support.databases import create_database, drop_database
from support.relay_effects import Effects, Watch


@pytest.fixture
def watch(database_url: str) -> Iterator[Watch]:
    watch = Watch(database_url)
    watch.prepare()
    yield watch
    watch.close()


async def test_O8_an_idle_relay_rests_between_polls(
    database: Database, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = 0
    rests = asyncio.Event()
    fetch = Session.fetch

    async def spy(session: Session, name: str, /, **params: Any) -> list[dict[str, Any]]:
        nonlocal claims
        claims += name == "claim_events"
        if claims == 2 * 7:
            rests.set()
        return await fetch(session, name, **params)

    monkeypatch.setattr(Session, "fetch", spy)
    wake = Wake()
    relay = Relay(database, Effects(), wake, poll_seconds=60)
    task = asyncio.create_task(relay.run())
    await rests.wait()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(task), 0.5)
    assert claims == 2 * 7, "one look, six again after 1 to 300 ms, each for batches and for events alone"
    relay.stop()
    await task


async def test_O8_a_signal_from_a_thread_wakes_a_relay(database: Database, watch: Watch) -> None:
    signals = Signals(database)
    relay = Relay(database, Effects(), signals.wake(), poll_seconds=60)
    task = asyncio.create_task(relay.run())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(task), 0.6)
    watch.publish(1)
    thread = threading.Thread(target=signals.publish)
    thread.start()
    await asyncio.to_thread(watch.until_settled, 1, seconds=5)
    thread.join()
    relay.stop()
    await task


async def test_F70_a_listener_that_hears_not_even_itself_says_so(database: Database) -> None:
    session = await database.connect("deaf")
    async with session.connection:
        rings = listen(session, "clarion_wake", quiet_seconds=0.05, probe_seconds=0.05)
        await anext(rings)
        await session.connection.execute("UNLISTEN *")  # what a pooler does that gives us another connection
        with pytest.raises(Deaf):
            await anext(rings)


async def test_F70_a_quiet_listener_goes_on_listening(database: Database, watch: Watch) -> None:
    session = await database.connect("quiet")
    async with session.connection:
        rings = listen(session, "clarion_wake", quiet_seconds=0.02)
        await anext(rings)
        heard = asyncio.ensure_future(anext(rings))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(heard), 0.3)
        watch.wake_relays()
        await asyncio.wait_for(heard, 5)
        await rings.aclose()  # type: ignore[attr-defined]


async def test_a_schema_with_the_longest_name_can_be_signalled(server_url: str) -> None:
    url = create_database(server_url)
    try:
        async with Database(url, "s" * 63) as database:
            signals = Signals(database)
            bell = signals.wake()
            tasks = [asyncio.create_task(signals.receive()), asyncio.create_task(signals.send())]
            assert await bell.wait(5)  # once at the start
            bell.clear()
            signals._outward.ring()
            assert await bell.wait(5)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        drop_database(url, server_url)
