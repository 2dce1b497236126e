"""The CPU target: kernels through MLIR's vector dialect to native code of the machine.

Passes lay out weights and images (`layout/`) and choose methods (`schedule/`); `lower/` turns each
group into a kernel, built from `kernels/`; `emit/` makes object code. Start reading at `target.py`;
other folders import `TARGET`, tools also `emit/` and `schedule/`.
"""

from .target import CPU as TARGET

__all__ = ["TARGET"]
