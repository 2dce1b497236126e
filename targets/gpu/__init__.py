"""The GPU target: kernels over blocks, printed as Triton source and compiled ahead of time.

The registry of targets imports `TARGET`; the command line prints kernels by `emit`. Start reading
at `target.py`: `lower` makes kernels of groups, `emit` makes code of kernels.
"""

from .target import GPU as TARGET

__all__ = ["TARGET"]
