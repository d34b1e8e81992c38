"""Clarion beside the plain SQL that does the same row work, in one run: `python -m bench [P1 P4 …]`.

Absolute figures move from run to run; only ratios of interleaved pairs count. Nothing here asserts a time.
"""
