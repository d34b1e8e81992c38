"""Structured logs on stderr, as the settings say: for eyes, or one JSON object a line."""

import logging
import sys

import structlog

from clarion.config import Settings


def configure_logs(settings: Settings | None = None, *, least: str = "warning") -> None:
    """Log as the settings say; without any, only what is wrong, since a command that prints should not chatter."""
    level = settings.log_level if settings else least
    structured = settings is not None and settings.log_format == "json"
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if structured else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info if structured else _as_is,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def _as_is(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    return event
