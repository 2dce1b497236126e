"""Programs for exact sizes of the symbols of a model, in one package on the same weights.

`driver` uses it. Start reading at `build_exact.py`; `sets.py` checks what sizes a user names.
"""
