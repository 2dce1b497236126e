"""Kernels under construction: the builder, values, buffers, loops, epilogues and templates.

Lowerings import this package; it imports `schedule` and the registry. Start reading at `builder.py`
and `value.py`; `contraction.py`, `rows.py` and `spread.py` are the templates.
"""
