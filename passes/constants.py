"""Constants that passes make: small ones are written in the IR, large ones are weights."""

import numpy as np

from ..dialects import tri
from ..dialects.core.location import node_names, value_names
from ..dialects.core.module import Module
from ..dialects.core.op import Op
from ..dialects.core.tensor import Array, Tensor

INLINE_BYTES = 1024
"""Constants up to this size are written in the IR; larger ones become weights beside it."""


def build_constant(module: Module, array: Array, name: str) -> Op:
    """Make a constant op at the insertion point; `name` is a hint for a weight's name."""
    if array.nbytes <= INLINE_BYTES:
        return tri.Constant.build(value=array)
    key = module.add_weight(name, np.ascontiguousarray(array))
    return tri.Weight.build(name=key, type=Tensor.of(array))


def hint(op: Op, index: int = 0) -> str:
    """Name a constant that stands for a result of an op: by its value, or else by its node."""
    if names := value_names(op.location):
        return names[min(index, len(names) - 1)]
    nodes = node_names(op.location)
    return nodes[-1] if nodes else op.op_name.partition(".")[2]
