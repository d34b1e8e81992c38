"""The inbox page: plain HTML that works without JavaScript, from the same commands as the API.

Kept here: every text of a person's is escaped by the templates; nothing is loaded from elsewhere; what changes
something is a form of this very site.
"""
