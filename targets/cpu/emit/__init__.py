"""Code: passes from kernel IR to the llvm dialect, object code, programs that call it, entries.

Imported by `target.py`, by `schedule/` to measure kernels, and by tools.
Start reading at `code.py`, then `compile.py` and `kernel_pipeline.py`.
"""
