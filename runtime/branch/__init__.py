"""Branches: a condition chooses which steps a run does.

Packages import `step.py` by the kind of their steps.
"""
