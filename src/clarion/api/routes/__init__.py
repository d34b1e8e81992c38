"""The routes, a small file for each kind of thing."""
