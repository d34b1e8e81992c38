"""The notifier: who hears of an event and why, and what is written for them."""

from clarion.notifier.handler import Notifier

__all__ = ["Notifier"]
