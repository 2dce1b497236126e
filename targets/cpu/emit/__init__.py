"""Code: from kernels as MLIR text to object code, programs that call it, and package entries.

Imported by `target.py`, by `schedule/` to measure kernels, and by tools.
Start reading at `code.py`, then `compile.py` and `to_llvm.py`.
"""
