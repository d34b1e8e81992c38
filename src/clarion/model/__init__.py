"""Frozen types, closed lists, errors: no I/O."""
