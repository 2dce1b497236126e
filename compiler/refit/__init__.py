"""Packages whose weights may be updated: nothing is computed from them when a model is compiled.

`driver` and `assemble` use it. Start reading at `hold_weights.py`.
"""
