"""What ops do with sizes: a function for each op, on arrays of integers, sizes and truth values."""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Undecided
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.sizes.checks import need
from .....dialects.core.sizes.dim import highest, lowest

Elements: TypeAlias = np.ndarray[Any, Any]
"""An array of objects: ints, sizes, bools, and `Unknown`."""

Rule: TypeAlias = Callable[[Any, Sequence[Elements]], Sequence[Elements]]


@dataclass(frozen=True)
class Unknown:
    """An element that is not known at compile time, and why: `depends on …`."""

    reason: str


def _elementwise(function: Callable[..., Any]) -> Callable[..., Elements]:
    """Apply a function element by element; unknown arguments and decisions give unknown results."""

    def guarded(*arguments: Any) -> Any:
        for each in arguments:
            if isinstance(each, Unknown):
                return each
        return _decided(function, arguments)

    return _broadcast(guarded)


def _decided(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except Undecided as error:
        return Unknown(str(error))
    except ZeroDivisionError:
        return Unknown("depends on a division by 0")


def _broadcast(function: Callable[..., Any]) -> Callable[..., Elements]:
    def apply(*arrays: Elements) -> Elements:
        shaped = np.broadcast_arrays(*arrays)
        made = np.empty(shaped[0].shape, object)
        for index in np.ndindex(made.shape):
            made[index] = function(*(array[index] for array in shaped))
        return made

    return apply


# -- functions of elements ------------------------------------------------------------------------


def _quotient(a: int, b: int) -> int:
    """Divide as ONNX does: towards 0."""
    if b < 0:
        a, b = -a, -b
    return a // b if a >= 0 else -(-a // b)


def _rest(a: int, b: int) -> int:
    return a - _quotient(a, b) * b


def _same(a: int, b: int) -> bool:
    return not a - b


def _narrowed(size: int) -> int:
    """Convert to i32; sizes that do not fit are refused when they are known."""
    need((1 << 31) - 1, size, f"has size {size} as a number of 32 bits, must be at most 2^31 - 1")
    return size


def _exact(size: int, bits: int) -> int | Unknown:
    """Convert to a float that has so many bits; a size that it may round is not known."""
    if -(1 << bits) <= size <= 1 << bits:
        return size + 0
    return Unknown(f"depends on {size} as a float")


_CASTS: dict[str, Callable[[int], int | Unknown]] = {
    "i1": bool,
    "i32": lambda size: _narrowed(size + 0),
    "i64": lambda size: size + 0,
    "f32": lambda size: _exact(size, 24),
    "f64": lambda size: _exact(size, 53),
}


def _all(*values: bool | Unknown) -> bool | Unknown:
    """Return whether all hold: one that does not is enough to know."""
    unknown = [each for each in values if isinstance(each, Unknown)]
    return False if False in values else unknown[0] if unknown else True


def _any(*values: bool | Unknown) -> bool | Unknown:
    unknown = [each for each in values if isinstance(each, Unknown)]
    return True if any(each is True for each in values) else unknown[0] if unknown else False


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    if isinstance(condition, Unknown):
        return a if a == b else condition
    return a if condition else b


# -- ops ------------------------------------------------------------------------------------------


def _one(function: Callable[..., Elements]) -> Rule:
    return lambda op, operands: (function(*operands),)


def _moved(op: Op, operands: Sequence[Elements]) -> Sequence[Elements]:
    """Move elements as the op moves any others."""
    attributes = op.without_operation()
    many = any(group.arity == "many" for group in op.fields.operands)
    made: Any = attributes.reference(list(operands)) if many else attributes.reference(*operands)
    results = cast("tuple[Any, ...]", made) if isinstance(made, tuple) else (made,)
    return [_filled(value, each) for value, each in zip(op.results, results, strict=True)]


def _gather(op: tri.Gather, operands: Sequence[Elements]) -> Sequence[Elements]:
    x, indices = operands
    for each in indices.reshape(-1):
        if not isinstance(each, int):
            reason = f"depends on index {each}, which is not known at compile time"
            return (_filled(op.y, each if isinstance(each, Unknown) else Unknown(reason)),)
    return _moved(op, (x, indices.astype(np.int64)))


def _filled(value: ir.Value, elements: Any) -> Elements:
    """Return the elements of a value, or an array of one element."""
    made = np.empty(cast("Any", tensor_of(value.type).shape), object)
    made[...] = elements
    return made


def _cast(op: tri.Cast, operands: Sequence[Elements]) -> Sequence[Elements]:
    (x,) = operands
    if op.to not in _CASTS:
        return (_filled(op.y, Unknown(f"depends on sizes as {op.to}")),)
    return (_elementwise(_CASTS[op.to])(x),)


def _sizes(op: tri.Sizes, operands: Sequence[Elements]) -> Sequence[Elements]:
    made = np.empty(len(op.values), object)
    made[:] = op.values
    return (made.reshape(op.shape),)


def _reduction(function: Callable[[int, int], int], empty: int | Unknown) -> Rule:
    step = _elementwise(function)

    def rule(op: Any, operands: Sequence[Elements]) -> Sequence[Elements]:
        (x,) = operands
        axes = tuple(axis % x.ndim for axis in op.axes)
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        count = math.prod(x.shape[axis] for axis in axes)
        rows = np.transpose(x, (*axes, *kept)).reshape(count, *(x.shape[axis] for axis in kept))
        first = rows[:1] if count else np.full((1, *rows.shape[1:]), empty, object)
        made = first.reshape(rows.shape[1:])
        for row in rows[1:]:
            made = step(made, row)
        return (_filled(op.y, made.reshape(tensor_of(op.y.type).shape)),)

    return rule


_NOTHING = Unknown("depends on the greatest or least of nothing")

_MOVES: tuple[type[Op], ...] = (
    tri.Reshape,
    tri.Transpose,
    tri.Slice,
    tri.Concat,
    tri.Split,
    tri.Stack,
    tri.Unbind,
    tri.Expand,
    tri.Tile,
)

RULES: dict[type[Op], Rule] = {
    tri.Sizes: _sizes,
    tri.Gather: _gather,
    tri.Cast: _cast,
    **dict.fromkeys(_MOVES, _moved),
    tri.Add: _one(_elementwise(operator.add)),
    tri.Sub: _one(_elementwise(operator.sub)),
    tri.Mul: _one(_elementwise(operator.mul)),
    tri.Div: _one(_elementwise(_quotient)),
    tri.Mod: lambda op, operands: (_elementwise(_rest if op.fmod else operator.mod)(*operands),),
    tri.Neg: _one(_elementwise(operator.neg)),
    tri.Abs: _one(_elementwise(abs)),
    tri.Maximum: _one(_elementwise(highest)),
    tri.Minimum: _one(_elementwise(lowest)),
    tri.Equal: _one(_elementwise(_same)),
    tri.Less: _one(_elementwise(operator.lt)),
    tri.LessEqual: _one(_elementwise(operator.le)),
    tri.Greater: _one(_elementwise(operator.gt)),
    tri.GreaterEqual: _one(_elementwise(operator.ge)),
    tri.Not: _one(_elementwise(operator.not_)),
    tri.And: _one(_broadcast(_all)),
    tri.Or: _one(_broadcast(_any)),
    tri.Xor: _one(_elementwise(operator.ne)),
    tri.Where: _one(_broadcast(_chosen)),
    tri.ReduceSum: _reduction(operator.add, 0),
    tri.ReduceProd: _reduction(operator.mul, 1),
    tri.ReduceMax: _reduction(highest, _NOTHING),
    tri.ReduceMin: _reduction(lowest, _NOTHING),
}

RULES_OF_FLOATS = frozenset(
    (*_MOVES, tri.Gather, tri.Cast, tri.Maximum, tri.Minimum, tri.ReduceMax, tri.ReduceMin)
)
"""Ops whose rules are right for sizes that were made floats: they round nothing."""
