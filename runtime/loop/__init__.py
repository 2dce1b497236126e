"""Loops: steps that a run does again and again.

Packages import `step.py` by the kind of their steps.
"""
