"""Decompositions: rules that rewrite an op of `tri` as simpler ops, grouped by theme.

Only `passes/decompose.py` imports it, which applies them. Start reading at `registry.py`, then
`linear.py`.
"""
