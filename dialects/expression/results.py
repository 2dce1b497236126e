"""What a whole expression makes as one tensor: numbers become tensors of no axes, lists of one."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..core.errors import Invalid, Unsupported
from ..core.tensor import Array, Tensor, numpy_dtype
from .arithmetic import compute
from .evaluation import evaluate, given
from .inference import infer
from .promotion import PNNX_DTYPES, is_number, promote
from .tree import Formula


def tensor_of(formula: Formula, operands: Sequence[Tensor]) -> Tensor:
    """Return the type of an expression of operands of given types.

    Raises Invalid for types that do not fit, Unsupported for complex numbers.
    """
    values = evaluate(formula, given(operands), infer)
    items = items_of(formula, values)
    if items is None:
        _check(values[0])
        return values[0] if isinstance(values[0], Tensor) else Tensor((), promote(values))
    for item in items:
        _check(item)
        if isinstance(item, Tensor) and item.shape:
            raise Invalid(f"expression lists {item}, must be numbers or tensors of no axes")
    return Tensor((len(items),), promote(items) or "i64")


def array_of(formula: Formula, operands: Sequence[Array]) -> Array:
    """Compute an expression of arrays, all of whose types fit."""
    dtype = numpy_dtype(tensor_of(formula, [Tensor.of(x) for x in operands]).dtype)
    values = evaluate(formula, given(operands), compute)
    items = items_of(formula, values)
    if items is None:
        return np.array(values[0]).astype(dtype)
    return np.array([np.asarray(item).astype(dtype) for item in items], dtype)


def items_of(formula: Formula, values: Sequence[Any]) -> Sequence[Any] | None:
    """Return the items of a list, one that is written or the sizes of all axes; None of others."""
    if formula.is_list:
        return values
    return cast("Sequence[Any]", values[0]) if isinstance(values[0], tuple) else None


def _check(value: Any) -> None:
    """Raise Invalid for a value that no tensor can have, Unsupported for a complex number."""
    if isinstance(value, complex):
        spelled = str(value).strip("()")
        raise Unsupported(f"expression is {spelled}, tri has no complex element types")
    if isinstance(value, Tensor):
        if value.dtype not in PNNX_DTYPES:
            raise Invalid(f"expression is {value}, must have one of {', '.join(PNNX_DTYPES)}")
    elif not is_number(value):
        raise Invalid(f"expression is or lists {value}, must be a tensor or a number")
