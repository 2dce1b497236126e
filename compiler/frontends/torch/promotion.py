"""Element types of results, as torch promotes those of operands."""

import numpy as np

from ....dialects import expression, tri
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.tensor import is_float, numpy_dtype
from ..core.values import cast, number, tensor
from .registry import Value

Operand = Value | bool | int | float
"""An operand of arithmetic: a tensor, or a number or size, which promotes less than a tensor."""


def promoted_type(*operands: Operand) -> str:
    """Return the element type that operands are computed in."""
    return expression.promote([tensor(x) if isinstance(x, Value) else x for x in operands])


def promote(*operands: Operand, dtype: str = "") -> tuple[Value, ...]:
    """Return operands as tensors of one element type, theirs together if none is given."""
    to = dtype or promoted_type(*operands)
    return tuple(as_type(x, to) for x in operands)


def as_type(x: Operand, dtype: str) -> Value:
    """Return a tensor or a number as a tensor of an element type."""
    if isinstance(x, Value):
        return cast(x, dtype)
    if not isinstance(x, float) and is_symbolic(x):
        return cast(number(x), dtype)
    return tri.Constant.build(value=np.array(x).astype(numpy_dtype(dtype))).y


def as_float(x: Value) -> Value:
    """Return a tensor as floats: others become f32, as in torch's functions of real numbers."""
    return x if is_float(tensor(x).dtype) else cast(x, "f32")
