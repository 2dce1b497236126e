"""The GPU target: kernels over blocks, printed as Triton source and compiled ahead of time."""

import pkgutil
from importlib import import_module

from . import decompose_refused as decompose_refused  # registers the pass
from . import fuse_prologues as fuse_prologues  # registers the pass
from . import pipeline as pipeline  # registers the passes
from .target import GPU as TARGET

for _module in pkgutil.iter_modules(__path__, "."):
    if _module.name.startswith(".lower_"):
        import_module(_module.name, __name__)

__all__ = ["TARGET"]
