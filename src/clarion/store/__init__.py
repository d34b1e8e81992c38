"""The only SQL, and the only database clients."""
