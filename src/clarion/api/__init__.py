"""The HTTP door: what programs and people do over HTTP, in one app.

Kept here: routes decide nothing and open no transaction; they name a command of a room and show its result.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clarion.api.app import create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> Any:
    """Import the app when it is asked for: FastAPI takes a second that nobody else need wait."""
    if name == "create_app":
        from clarion.api.app import create_app  # noqa: PLC0415 - as said

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
