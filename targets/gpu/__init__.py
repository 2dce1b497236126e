"""The GPU target: kernels over blocks, printed as Triton source and compiled ahead of time.

The registry of targets imports `TARGET`; the command line prints kernels by `emit`. Start reading
at `target.py`: `lower` makes kernels of groups, `emit` makes code of kernels.
"""

from ...passes.pipeline import import_all
from . import decompose_refused as decompose_refused  # registers the pass
from . import fuse_prologues as fuse_prologues  # registers the pass
from . import lower
from .emit import pipeline as pipeline  # registers the passes
from .target import GPU as TARGET

import_all(lower)

__all__ = ["TARGET"]
