"""What the inbox page asks of us: who somebody is, and their commands."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from clarion.api import credentials
from clarion.api.perform import perform
from clarion.engine import Engine
from clarion.model.errors import Unauthorised
from clarion.model.keys import Key
from clarion.model.text import fold_handle
from clarion.store.database import Command

P = ParamSpec("P")
T = TypeVar("T")


class Visits:
    """People who visit the page, by the token in their cookie."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def find(self, token: str) -> Key | None:
        """Return the person whose token this is, or None."""
        if not token:
            return None
        try:
            return (await perform(self._engine, credentials.find_credential, token)).person
        except Unauthorised:
            return None

    async def sign_in(self, token: str) -> str:
        """Return the token for the cookie, for one that a link brought and that then counts no more."""
        return await perform(self._engine, credentials.exchange_token, token)

    async def enter_as(self, handle: str) -> str:
        """Return a token for the person with this handle: for the demo alone. Raises: `NotFound`."""
        return await perform(self._engine, credentials.enter_as, fold_handle(handle))

    async def leave(self, token: str) -> None:
        """Let the token count no more."""
        await perform(self._engine, credentials.leave, token)

    async def run(self, command: Callable[P, Command[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a command in a transaction of its own."""
        return await perform(self._engine, command, *args, **kwargs)
