"""Rules for statistics, and for searches in sorted elements."""

from collections.abc import Callable

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.checks import need
from ......dialects.core.tensor import is_float, numpy_dtype
from ....core.values import cast, constant, tensor
from ...expressions import apply
from ...promotion import Operand, as_type, promote
from ...registry import Value, torch_op
from ...views import Ints, axis_of, cut, in_line, move, reshape
from .. import reduce
from ..indexing.index import flat, gather_


def _register_with_mean(name: str, spread: Callable[..., object]) -> None:
    @torch_op(f"aten::{name}")
    def with_mean(
        self: Value,
        dim: Ints | None = None,
        unbiased: bool | None = None,
        correction: float | None = None,
        keepdim: bool = False,
    ) -> tuple[object, Value]:
        made = spread(self, dim, unbiased=unbiased, correction=correction, keepdim=keepdim)
        return made, reduce.mean(self, dim, keepdim=keepdim)


_register_with_mean("var_mean", reduce.var)
_register_with_mean("std_mean", reduce.std)


@torch_op("aten::kthvalue")
def kthvalue(self: Value, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    """Return the k-th least element along an axis, counted from 1, and where it is."""
    x = in_line(self)
    axis = axis_of(x, dim)
    size = tensor(x).shape[axis]
    fault = f"takes element {k} of {size}, must be from 1 on"
    need(k, 1, fault)
    need(size, k, fault)
    found = (cut(each, axis, k - 1, k) for each in reduce.sort(x, axis))
    value, place = (_kept(each, self, axis, keepdim) for each in found)
    return value, place


def _kept(found: Value, x: Value, axis: int, keepdim: bool) -> Value:
    """Drop the axis of one element, unless it is kept."""
    if keepdim and tensor(x).rank:
        return found
    shape = tensor(found).shape
    return reshape(found, (*shape[:axis], *shape[axis + 1 :]))


@torch_op("aten::median")
def median(self: Value) -> Value:
    return median_of(flat(self), 0)[0]


@torch_op("aten::median.dim")
def median_of(self: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """Return the lesser one of the middle elements and its place; NaN where there is one."""
    x = in_line(self)
    axis = axis_of(x, dim)
    need(tensor(x).shape[axis], 1, f"has no elements along axis {axis}")
    middle, place = kthvalue(x, (tensor(x).shape[axis] + 1) // 2, axis, True)
    if is_float(tensor(x).dtype):
        greatest, first = reduce.amax(x, axis, keepdim=True), reduce.argmax(x, axis, keepdim=True)
        unknown = tri.IsNan.build(greatest).y
        middle = tri.Where.build(unknown, greatest, middle).y
        place = tri.Where.build(unknown, first, place).y
    return _kept(middle, self, axis, keepdim), _kept(place, self, axis, keepdim)


@torch_op("aten::nanmedian")
def nanmedian(self: Value) -> Value:
    return nanmedian_of(flat(self), 0)[0]


@torch_op("aten::nanmedian.dim")
def nanmedian_of(self: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """Return the lesser one of the middle elements that are numbers, and its place."""
    x = in_line(self)
    axis = axis_of(x, dim)
    need(tensor(x).shape[axis], 1, f"has no elements along axis {axis}")
    # What is no number is sorted behind all numbers.
    is_number = tri.Equal.build(x, x).y
    count = reduce.sum_(is_number, axis, keepdim=True)
    middle = apply("max(floor_divide(sub(@0,1),2),0)", count)
    found = (gather_(each, axis, middle) for each in reduce.sort(x, axis))
    value, place = (_kept(each, self, axis, keepdim) for each in found)
    return value, place


@torch_op("aten::histc")
def histc(self: Value, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Value:
    """Count the elements of each of `bins` spans of equal width; without limits, of all.

    Places of elements of half types are computed in f32.
    """
    need(bins, 1, f"has {bins} bins, must be above 0")
    dtype = tensor(self).dtype
    x = flat(cast(self, "f64" if dtype == "f64" else "f32"))
    low, high = (as_type(limit, tensor(x).dtype) for limit in (min, max))
    if min == max:
        low, high = _limits(x)
    inside = tri.And.build(tri.GreaterEqual.build(x, low).y, tri.LessEqual.build(x, high).y).y
    place = apply("div(mul(sub(@0,@1),@3),sub(@2,@1))", x, low, high, bins)
    index = apply(f"min(max(torch.long(@0),0),{bins - 1})", place)
    zeros = constant(np.zeros(bins, numpy_dtype(dtype)))
    terms = cast(inside, dtype)
    return tri.ScatterElements.build(zeros, index, terms, axis=0, reduction="add").y


def _limits(x: Value) -> tuple[Value, Value]:
    """Return the least and the greatest element, or one less and one more where they are equal."""
    low = reduce.amin(x)
    high = reduce.amax(x)
    apart = cast(tri.Equal.build(low, high).y, tensor(x).dtype)
    return tri.Sub.build(low, apart).y, tri.Add.build(high, apart).y


@torch_op("aten::searchsorted")
def searchsorted(
    sorted_sequence: Value,
    self: Operand,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Value | None = None,
) -> Value:
    """Count the elements of a sorted axis that are less; from the right, those that are equal too.

    All elements are compared with all values.
    """
    if side not in (None, "left", "right"):
        raise Invalid(f"has side '{side}', must be left or right")
    last = tensor(sorted_sequence).rank - 1
    if sorter is not None:
        sorted_sequence = gather_(sorted_sequence, last, sorter)
    sequence, values = promote(sorted_sequence, self)
    values = reshape(values, (*tensor(values).shape, 1))
    if last:
        *outer, size = tensor(sequence).shape
        sequence = reshape(sequence, (*outer, 1, size))
    op = tri.LessEqual if right or side == "right" else tri.Less
    is_before = op.build(sequence, values).y
    if is_float(tensor(values).dtype):  # all are before what is no number
        is_before = tri.Or.build(is_before, tri.IsNan.build(values).y).y
    terms = cast(is_before, "i32" if out_int32 else "i64")
    return tri.ReduceSum.build(terms, axes=(tensor(terms).rank - 1,), keepdims=False).y


@torch_op("aten::bucketize")
def bucketize(
    self: Operand, boundaries: Value, *, out_int32: bool = False, right: bool = False
) -> Value:
    return searchsorted(boundaries, self, out_int32=out_int32, right=right)


@torch_op("aten::mode")
def mode(self: Value, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    """Return the most frequent element along an axis, the least of several, and its last place."""
    x = in_line(self)
    axis = axis_of(x, dim)
    last = tensor(x).rank - 1
    line = move(x, axis, last)
    values = reduce.sort(line, last)[0]
    shape = tensor(line).shape
    column, row = reshape(values, (*shape, 1)), reshape(values, (*shape[:-1], 1, shape[-1]))
    same = tri.Equal.build(column, row).y
    counts = reduce.sum_(same, last + 1)
    value = gather_(values, last, reduce.argmax(counts, last, keepdim=True))
    matches = cast(tri.Equal.build(line, value).y, "ui8")
    place = tri.ArgMax.build(matches, axis=last, keepdims=True, select_last_index=True).y
    back = (move(each, last, axis) for each in (value, place))
    first, second = (_kept(each, self, axis, keepdim) for each in back)
    return first, second
