"""Doors for what happened elsewhere: a forge's webhook payloads become content commands."""
