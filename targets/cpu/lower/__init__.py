"""Lowerings of ops, one file per family; importing the package registers all of them.

Imported by `emit/`, which lowers whole groups. Start reading at `group.py`, then `unary.py` for an
elementwise, `shape.py` for an indexed and `matmul.py` for a template lowering.
"""

import pkgutil
from importlib import import_module

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
