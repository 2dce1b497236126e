"""Allocate the values of a run one by one, in place of an arena that was planned before.

Start reading at `strategy.py` and `strategies.py`, then `liveness.py`. Nothing here is imported
unless a session asks for another memory strategy than the static plan.
"""
