"""An app over a database of the test's own, and those who call it."""

from collections.abc import AsyncIterator

import pytest
import structlog
from pydantic import SecretStr

from clarion.api import create_app
from clarion.config import Settings
from clarion.engine import Engine
from support.doors import API_KEY, Doors


@pytest.fixture(autouse=True)
def _logs_of_its_own() -> None:
    """A command that was tried before may have sent the logs to a stream that is closed by now."""
    structlog.reset_defaults()


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[Engine]:
    async with Engine(Settings(database_url=database_url, api_key=SecretStr(API_KEY), pool_size=4)) as engine:
        yield engine


@pytest.fixture
async def doors(engine: Engine) -> AsyncIterator[Doors]:
    async with Doors(engine, create_app(engine)) as doors:
        yield doors


@pytest.fixture
async def demo(engine: Engine) -> AsyncIterator[Doors]:
    async with Doors(engine, create_app(engine, demo=True)) as doors:
        yield doors
