"""Decide which target runs each op, divide a model into parts by target, place groups and copies.

Targets and the compiler import it. Start at `partition.py`, the pass; `policies.py` has the
policies that a user chooses from, on the graph of `problem.py`.
"""
