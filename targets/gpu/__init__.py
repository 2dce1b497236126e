"""The GPU target: kernels through the tile dialect and Triton to cubins, without a GPU."""

import pkgutil
from importlib import import_module

from .target import GPU as TARGET

for _module in pkgutil.iter_modules(__path__, "."):
    if _module.name.startswith(".lower_"):
        import_module(_module.name, __name__)

__all__ = ["TARGET"]
