"""Compute what a model does with sizes: small tensors of integers and truth values, by elements.

    Shape (x) is [N, 3]; Gather (…, 0) is N; Mul (…, 4) is 4*N; Equal (…, 12) depends on N

What an element is may be unknown, as in the last line: nothing is guessed. Such tensors also exist
in the IR, for those who need them when the model runs.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op, view
from ....dialects.core.tensor import Array
from .size_rules import RULES, Elements, Unknown

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

    def __call__(self, value: ir.Value) -> Elements | None:
        """Return the elements of a value, None for one that cannot be sizes."""
        if not _may_be_sizes(value):
            return None
        pending = [value]
        while pending:
            current = pending[-1]
            if current in self._known:
                pending.pop()
                continue
            op = view(current.owner) if isinstance(current, ir.OpResult) else None
            needed = [] if op is None else _needed(op)
            unknown = [v for v in needed if v not in self._known]
            if unknown:
                pending += unknown
            else:
                self._find(current, op)
        return self._known[value]

    def _find(self, value: ir.Value, op: Op | None) -> None:
        array = self._evaluate(value)
        if array is not None:
            self._known[value] = _elements(array)
        elif op is None or type(op) not in RULES or not _needs_known(op):
            self._known[value] = _unknown(value)
        else:
            operands = [self._known[v] for v in op.operation.operands]
            made = RULES[type(op)](op, operands)
            self._known.update(zip(op.results, made, strict=True))


def _may_be_sizes(value: ir.Value) -> bool:
    tensor = tensor_of(value.type)
    if not tensor.is_static or tensor.size > MOST:
        return False
    return tensor.dtype in ("i1", "i32", "i64")


def _needs_known(op: Op) -> bool:
    """Return whether a rule can be applied: attributes are ints, or the sizes themselves."""
    values = [*op.operation.operands, *op.results]
    return all(map(_may_be_sizes, values)) and (isinstance(op, tri.Sizes) or not op.symbols)


def _needed(op: Op) -> list[ir.Value]:
    known = type(op) in RULES and _needs_known(op)
    return list(op.operation.operands) if known else []


def _elements(array: Array) -> Elements:
    made = np.empty(array.shape, object)
    made[...] = array.astype(object)
    return made


def _unknown(value: ir.Value) -> Elements:
    made = np.empty(cast("Any", tensor_of(value.type).shape), object)
    made[...] = Unknown("depends on what is known when the model runs")
    return made
