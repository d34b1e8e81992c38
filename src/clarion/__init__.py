"""Clarion: notifications inside your PostgreSQL transaction: who hears, why, exactly once."""

from clarion.application import Clarion
from clarion.config import Settings
from clarion.model.errors import ClarionError
from clarion.model.happening import Happening, Part
from clarion.model.reasons import Reason
from clarion.outbox.publish import NewEvent

__all__ = ["Clarion", "ClarionError", "Happening", "NewEvent", "Part", "Reason", "Settings"]
