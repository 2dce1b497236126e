"""Rules for running extremes and logarithms of running sums: each step covers twice as many."""

from collections.abc import Callable

import numpy as np

from ......dialects import tri
from ......dialects.core.sizes.checks import need_static
from ......dialects.core.tensor import is_float
from ....core.values import cast, constant, tensor
from ...expressions import apply
from ...registry import Value, torch_op
from ...views import axis_of, cut, expand, in_line, reshape

Columns = tuple[Value, ...]
"""Tensors of one shape, which are accumulated together."""


def _accumulated(xs: Columns, axis: int, combine: Callable[[Columns, Columns], Columns]) -> Columns:
    """Combine each element with all before it, by an associative function of two elements.

    In step k elements are combined with those 2ᵏ before them: a scan as of Hillis and Steele.
    """
    size = tensor(xs[0]).shape[axis]
    need_static(size, f"axis {axis} that is accumulated")
    step = 1
    while step < size:
        first = [cut(x, axis, 0, step) for x in xs]
        earlier = tuple(cut(x, axis, 0, size - step) for x in xs)
        made = combine(earlier, tuple(cut(x, axis, step, size) for x in xs))
        pairs = zip(first, made, strict=True)
        xs = tuple(tri.Concat.build([*pair], axis=axis).y for pair in pairs)
        step *= 2
    return xs


def _register_extreme(name: str, op: type[tri.GreaterEqual] | type[tri.LessEqual]) -> None:
    def combine(earlier: Columns, later: Columns) -> Columns:
        """Choose the later one of two where it is as extreme, or no number."""
        later_wins = op.build(later[0], earlier[0]).y
        if is_float(tensor(later[0]).dtype):
            no_number = [tri.IsNan.build(x[0]).y for x in (earlier, later)]
            later_wins = tri.And.build(later_wins, tri.Not.build(no_number[0]).y).y
            later_wins = tri.Or.build(later_wins, no_number[1]).y
        pairs = zip(later, earlier, strict=True)
        return tuple(tri.Where.build(later_wins, *pair).y for pair in pairs)

    @torch_op(f"aten::{name}")
    def running_extreme(self: Value, dim: int) -> Columns:
        """Return the extreme of all elements up to each one, and its last place."""
        x = in_line(self)
        dtype = tensor(x).dtype
        # Bools have no order.
        ordered = cast(x, "ui8") if dtype == "i1" else x
        axis, shape = axis_of(x, dim), tensor(x).shape
        need_static(shape[axis], f"axis {axis} that is accumulated")
        numbers = np.arange(shape[axis]).reshape(-1, *[1] * (len(shape) - 1 - axis))
        places = expand(constant(numbers), shape)
        values, places = _accumulated((ordered, places), axis, combine)
        whole = tensor(self).shape
        return reshape(cast(values, dtype), whole), reshape(places, whole)


_register_extreme("cummax", tri.GreaterEqual)
_register_extreme("cummin", tri.LessEqual)


@torch_op("aten::logcumsumexp")
def logcumsumexp(self: Value, dim: int) -> Value:
    """Return the logarithm of the running sum of exponentials."""

    def combine(earlier: Columns, later: Columns) -> Columns:
        return (apply("logaddexp(@0,@1)", earlier[0], later[0]),)

    x = in_line(self)
    (y,) = _accumulated((x,), axis_of(x, dim), combine)
    return reshape(y, tensor(self).shape)
