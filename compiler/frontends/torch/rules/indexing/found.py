"""Rules for the elements that are chosen by their values, of which a run finds the number."""

import math

import numpy as np

from ......dialects import tri
from ......dialects.core.sizes.checks import need_static
from ......dialects.core.tensor import Array, broadcast
from ....core.main_function import MainFunction
from ....core.sizes.found_sizes import FoundSizes
from ....core.values import cast, constant, tensor
from ...promotion import as_type
from ...registry import Value, torch_op
from ...views import axis_of, cut_axes, expand, reshape, take, transpose
from .index import flat


@torch_op("torch.masked_select")
def masked_select(input: Value, mask: Value, *, main: MainFunction) -> Value:
    """Take the elements where the mask is true."""
    shape = broadcast(tensor(input).shape, tensor(mask).shape)
    known = main.evaluate(mask)
    x, chosen = (flat(expand(each, shape)) for each in (input, mask))
    if known is not None:
        places = np.flatnonzero(np.broadcast_to(known != 0, shape))
        return take(x, places.astype(np.int64), 0)
    operands = (x, cast(chosen, "i1"))
    made = FoundSizes(main).select(operands, lambda count: tri.Compress(count=count, axis=0))
    return made.results[0]


@torch_op("torch.nonzero", "aten::nonzero")
def nonzero(input: Value, *, main: MainFunction) -> Array | Value:
    known = main.evaluate(input)
    if known is not None:
        return np.argwhere(known).astype(np.int64)
    return transpose(true_places(input, main), [1, 0])


@torch_op("aten::where", renamed={"condition": "input"})
def where_true(input: Value, *, main: MainFunction) -> tuple[list[Value]]:
    """Return the indices along each axis of the elements that are not zero."""
    return (list(tri.Unbind.build(true_places(input, main), axis=0).results),)


def true_places(x: Value, main: MainFunction) -> Value:
    """Return a row for each axis: the indices of the elements that are not zero."""
    return FoundSizes(main).select([x], lambda count: tri.NonZero(count=count)).results[0]


@torch_op("aten::_unique2")
def unique(
    input: Value,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    main: MainFunction,
) -> tuple[Value, Value, Value]:
    """Return the different elements, the place of each element among them, how many there are.

    What is not asked for is empty.
    """
    made = FoundSizes(main).select([flat(input)], lambda count: tri.Unique(count=count, axis=0))
    values, _, inverse, counts = made.results
    nothing = constant(np.zeros(0, np.int64))
    places = reshape(inverse, tensor(input).shape) if return_inverse else nothing
    return values, places, counts if return_counts else nothing


@torch_op("aten::unique_dim")
def unique_slices(
    input: Value,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    main: MainFunction,
) -> tuple[Value, Value, Value]:
    """Return the different slices of an axis, the place of each among them, how many there are."""
    axis = axis_of(input, dim)
    made = FoundSizes(main).select([input], lambda count: tri.Unique(count=count, axis=axis))
    values, _, inverse, counts = made.results
    return values, inverse, counts


@torch_op("aten::nonzero_static")
def nonzero_static(input: Value, *, size: int, fill_value: int = -1) -> Value:
    """Return the indices of so many elements that are not zero, of fewer and a filling."""
    shape = tensor(input).shape
    need_static(math.prod(shape), "number of elements")
    chosen = flat(cast(input, "i1"))
    before = tri.CumSum.build(cast(chosen, "i64"), axis=0, exclusive=True).y
    # Rows that are not wanted are all written to one more row.
    beyond = as_type(size, "i64")
    row = tri.Minimum.build(tri.Where.build(chosen, before, beyond).y, beyond).y
    places = np.indices(shape).reshape(len(shape), math.prod(shape)).T
    rows = constant(np.full((size + 1, len(shape)), fill_value))
    at = reshape(row, (math.prod(shape), 1))
    written = tri.ScatterNd.build(rows, at, constant(places)).y
    return cut_axes(written, {0: slice(0, size)})
