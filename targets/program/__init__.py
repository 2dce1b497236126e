"""Programs: the calls of a placed module in order, and a place in memory for each value.

Targets and the compiler import it. Start reading at `calls.py`, then `program.py`.
"""
