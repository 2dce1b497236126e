"""Sizes that depend on symbols: their text, their values at a run, and what must hold of them.

`plans` and the kinds of steps use it; it knows neither. Start reading at `size_expressions.py`,
then `evaluation.py` (all sizes of a manifest by one function) and `stages.py` (found sizes).
"""
