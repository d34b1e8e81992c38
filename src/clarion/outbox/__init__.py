"""Publishing, and what becomes of published events."""
