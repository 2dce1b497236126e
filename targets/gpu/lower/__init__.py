"""Lowerings of `tri` ops to kernels, one file per family; importing the package registers them.

Imported by the target and by `emit/`. Start reading at `group.py`, which lowers a whole group, then
`unary.py` for an elementwise, `shape.py` for an indexed and `matmul.py` for a template lowering.
"""

import sys

from ....passes.pipeline import import_all

import_all(sys.modules[__name__])
