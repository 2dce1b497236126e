"""Sizes that depend on symbols: their text, their values at a run, and what must hold of them.

`plans` and the kinds of steps use it; it knows neither. Start reading at `size_expressions.py`,
then `formulas.py` (expressions as one function), `evaluation.py` (all sizes of a manifest) and
`stages.py` (found sizes).
"""
