"""Lowerings of `tri` ops to kernels, one module for each family of ops.

Only the target imports this package, for what the modules register; `group.py` walks over a group,
and `to_tile.py` is the pass. Start reading at `group.py`, then `matmul.py`.
"""
