"""Compute what a model does with sizes: small tensors of integers and truth values, by elements.

    Shape (x) is [N, 3]; Gather (…, 0) is N; Mul (…, 4) is 4*N; Equal (…, 12) depends on N

What an element is may be unknown, as in the last line: nothing is guessed. Such tensors also exist
in the IR, for those who need them when the model runs.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.interpret import compute_on_demand
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op, view
from .....dialects.core.tensor import Array
from .size_rules import RULES, RULES_OF_FLOATS, Elements, Unknown

MOST = 1024
"""Larger tensors are not looked at: they are no sizes."""

Evaluate: TypeAlias = Callable[[ir.Value], Array | None]


class SizeEvaluator:
    """Compute the elements of an IR value on demand; results are remembered.

    `evaluate` computes values that depend on no input and no symbol.
    """

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._known: dict[ir.Value, Elements] = {}

    def forget(self) -> None:
        """Drop what is known: after IR was erased, values may be stale."""
        self._known.clear()

    def __call__(self, value: ir.Value) -> Elements | None:
        """Return the elements of a value, None for one that cannot be sizes."""
        if not _is_small(value) or _is_float(value):
            return None
        compute_on_demand(value, self._known, _ruled, self._find)
        return self._known[value]

    def _find(self, value: ir.Value, op: Op | None) -> None:
        array = self._evaluate(value)
        if array is not None:
            self._known[value] = _elements(array)
        elif op is None:
            self._known[value] = _unknown(value)
        else:
            operands = [self._known[v] for v in op.operation.operands]
            made = RULES[type(op)](op, operands)
            self._known.update(zip(op.results, made, strict=True))


def _is_small(value: ir.Value) -> bool:
    tensor = tensor_of(value.type)
    if not tensor.is_static or tensor.size > MOST:
        return False
    return tensor.dtype in ("i1", "i32", "i64") or _is_float(value)


def _is_float(value: ir.Value) -> bool:
    """Return whether a value may be sizes on their way through floats: `Cast (Max (Cast (…)))`."""
    return tensor_of(value.type).dtype in ("f32", "f64")


def _ruled(value: ir.Value) -> Op | None:
    """Return the op that makes a value, if a rule can be applied to it.

    Its attributes are ints, or the sizes themselves.
    """
    op = view(value.owner) if isinstance(value, ir.OpResult) else None
    if op is None or type(op) not in RULES or (op.symbols and not isinstance(op, tri.Sizes)):
        return None
    values = [*op.operation.operands, *op.results]
    if any(map(_is_float, values)) and type(op) not in RULES_OF_FLOATS:
        return None
    return op if all(map(_is_small, values)) else None


def _elements(array: Array) -> Elements:
    made = np.empty(array.shape, object)
    made[...] = array.astype(object)
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (np.trunc(array) == array)
        for index in np.ndindex(array.shape):
            each = array[index]
            made[index] = int(each) if whole[index] else Unknown(f"depends on {each}, no integer")
    return made


def _unknown(value: ir.Value) -> Elements:
    made = np.empty(cast("Any", tensor_of(value.type).shape), object)
    made[...] = Unknown("depends on what is known when the model runs")
    return made
