"""The kernel builder: values, buffers, loops, epilogues and the templates that share them.

Imported by `lower/` and `emit/`; `schedule/` and `layout/` use its element types and instructions.
Start reading at `builder.py` and `value.py`, then `epilogue.py` and `contraction.py`.
"""
