"""Sizes in frontends: those that a run computes or finds, and shapes made of them.

Imported by frontends, and by the folder around it. Start reading at `run_time_shapes.py`, then
`found_sizes.py`.
"""
