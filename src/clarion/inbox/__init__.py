"""The inbox: a person's notifications after they exist (I), and what the person chose to hear (W5 to W10).

Kept here: whoever changes rows of a person locks the person's `inbox_state` first, changes them in a later
statement, and raises the version by one a transaction if anything changed, never otherwise (I6). Every
command runs in the caller's transaction and never commits.
"""
