"""The CPU target: kernels through MLIR's vector dialect to native code of the machine."""

import pkgutil
from importlib import import_module

from .target import CPU as TARGET

for _module in pkgutil.iter_modules(__path__, "."):
    if _module.name.startswith(".lower_"):
        import_module(_module.name, __name__)

__all__ = ["TARGET"]
