"""What a relay hands events to."""

from collections.abc import Collection, Sequence
from typing import Protocol

from clarion.model.event import Event, Handled
from clarion.store.database import Session


class Consumer(Protocol):
    """Applies events in the relay's transaction. It never commits, and calls no network (O5)."""

    name: str

    def types(self) -> Collection[str]:
        """Return the event types that it knows; others are left for a relay that does (O7)."""
        ...

    async def handle(self, session: Session, events: Sequence[Event]) -> Handled:
        """Apply the events and name what became of them: of one at least, of none but these.

        Events it does not name are handed to it again. Raises: whatever went wrong; the relay undoes, halves
        and charges.
        """
        ...
