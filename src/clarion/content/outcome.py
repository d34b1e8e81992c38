"""What content commands return."""

from dataclasses import dataclass

from clarion.model.keys import Key


@dataclass(frozen=True, slots=True)
class Written:
    """A thread, post, organisation or team after a command: our id, the host's key."""

    id: int
    key: str
    event: int | None = None
    """The event that tells of it; none where nothing changed, or nobody may hear."""
    created: bool = False
    changed: bool = False
    """Whether a row was written; false when everything was so already."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A person or a space after a command, by the host's own key."""

    key: Key
    event: int | None = None
    """The event that tells of changed access; none where none changed for many."""
    created: bool = False
    changed: bool = False
    """Whether a row was written; false when everything was so already."""


@dataclass(frozen=True, slots=True)
class RoleChange:
    """Who holds a role in a thread now and did not before, or the other way round."""

    people: tuple[Key, ...] = ()
    events: tuple[int, ...] = ()
    """The events that tell of it, none where nothing changed."""
