"""Fixtures of the flow tests."""

import pytest

from clarion.store.database import Database
from support.world import World


@pytest.fixture
async def world(database: Database) -> World:
    """A world of five people, a public space and a private one."""
    world = World(database)
    await world.settle_in()
    return world
