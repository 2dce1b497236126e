"""Outputs of a session that are inputs of its next run, without a copy.

`session` uses it. Start reading at `stateful.py` (what a session offers), then `state.py`.
"""
