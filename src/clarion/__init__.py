"""Clarion: notifications inside your PostgreSQL transaction: who hears, why, exactly once."""
