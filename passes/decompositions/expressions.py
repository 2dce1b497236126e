"""Expressions in terms of the ops of tri that their functions are, each subtree once."""

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.numerics.precision import accumulator
from ...dialects.core.tensor import Tensor, is_float, numpy_dtype
from ...dialects.expression import (
    SIZE,
    Function,
    evaluate,
    given,
    infer,
    items_of,
    parse,
    signature,
    simplified,
)
from ..building import cast, constant, reshape
from .functions import BUILDERS
from .registry import decomposes


@decomposes(tri.Expression)
def expression(op: tri.Expression) -> ir.Value:
    formula = parse(op.expr)
    dtype = tensor_of(op.y.type).dtype
    values = evaluate(formula, given(op.xs), _Builder())
    items = items_of(formula, values)
    if items is None:
        return _value(values[0], dtype)
    if not any(isinstance(item, ir.Value) for item in items):
        return constant(items, dtype)
    return tri.Concat.build([reshape(_value(item, dtype), 1) for item in items], axis=0).y


class _Builder:
    """Build the ops of a function, unless it was applied to the same values before."""

    def __init__(self) -> None:
        self.made: dict[Hashable, Any] = {}

    def __call__(self, function: Function, arguments: Sequence[Any]) -> Any:
        key = (function.name, *map(_identity, arguments))
        if key not in self.made:
            self.made[key] = _built(function, arguments)
        return self.made[key]


def _identity(value: Any) -> Hashable:
    """Return what equal values have in common; 1, 1.0 and True are not equal, NaN is NaN."""
    return value if isinstance(value, ir.Value) else repr(value)


def _built(function: Function, arguments: Sequence[Any]) -> Any:
    """Build the ops of a function; numbers stay numbers where no tensor is involved."""
    types = [tensor_of(a.type) if isinstance(a, ir.Value) else a for a in arguments]
    if function is SIZE or not any(isinstance(t, Tensor) for t in types):
        return infer(function, types)
    operands, result = signature(function, types)
    function, arguments = simplified(function, arguments)
    if not all(_holds(operands, argument) for argument in arguments):
        operands = accumulator(operands)
    values = [_value(argument, operands) for argument in arguments]
    return cast(BUILDERS[function.name](*values), result)


def _holds(dtype: str, value: Any) -> bool:
    """Return whether a half type holds a number but for rounding: torch keeps numbers in f32."""
    if isinstance(value, ir.Value) or not is_float(dtype):
        return True
    with np.errstate(over="ignore"):
        held = float(np.array(value).astype(numpy_dtype(dtype)))
    return math.isclose(held, value, rel_tol=2**-7) or math.isnan(value)


def _value(value: Any, dtype: str) -> ir.Value:
    """Build a cast of a value, or the constant that a number is."""
    return cast(value, dtype) if isinstance(value, ir.Value) else constant(value, dtype)
