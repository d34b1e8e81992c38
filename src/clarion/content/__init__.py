"""The content room: people, places, threads and posts of hosts that keep them with us.

Kept here: the row and its event are written together (O1), by the host's key and once (O11). Every command
is a generator that yields named statements in the caller's transaction and never commits. Who may do what
is the host's business.
"""

from clarion.content.resolvers import RESOLVERS

__all__ = ["RESOLVERS"]
