"""Rules for overloads that make, choose and index tensors."""

from typing import Any

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import numpy_dtype
from ....core.main_function import MainFunction
from ....core.values import cast, constant, tensor
from ...element_types import torch_type
from ...expressions import apply
from ...promotion import Operand, as_type
from ...registry import Complex, Value, torch_op
from ...views import (
    Ints,
    axis_of,
    cut,
    expand,
    move,
    rank_of,
    reshape,
    shape_of,
    swap,
    take,
)
from .. import create, join
from ..indexing.advanced_index import index_by

Tensor = Value | Complex


@torch_op("aten::scalar_tensor")
def scalar_tensor(s: bool | int | float, dtype: str | None = None) -> Any:
    return create.full((), fill_value=s, dtype=dtype or "torch.float32")


@torch_op("aten::empty_strided", "aten::empty_permuted")
def empty(
    size: Ints, stride: Ints = (), physical_layout: Ints = (), *, dtype: str | None = None
) -> Any:
    """Make zeros, in any order of memory."""
    return create.zeros(size, dtype=dtype)


@torch_op("aten::new_empty_strided")
def new_empty_strided(self: Value, size: Ints, stride: Ints, *, dtype: str | None = None) -> Any:
    return create.new_zeros(self, size, dtype=dtype)


@torch_op("aten::linspace")
def linspace(start: Operand, end: Operand, steps: int, dtype: str | None = None) -> Any:
    """Return numbers at equal distances; the later half is counted from the end, as by torch."""
    to = torch_type(dtype or "torch.float32")
    if not isinstance(start, Value) and not isinstance(end, Value):
        return np.linspace(start, end, steps).astype(numpy_dtype(to))
    first, last = (as_type(x, "f64" if to == "f64" else "f32") for x in (start, end))
    step = apply("div(sub(@1,@0),@2)", first, last, max(steps - 1, 1))
    places = np.arange(steps)
    before, after = (constant(n.astype(np.float32)) for n in (places, places[::-1]))
    early = apply("add(@0,mul(@1,@2))", first, step, before)
    late = apply("sub(@0,mul(@1,@2))", last, step, after)
    return cast(tri.Where.build(constant(places < (steps + 1) // 2), early, late).y, to)


@torch_op("aten::index.Tensor", "aten::_unsafe_index.Tensor")
def index(self: Tensor, indices: list[Any], *, main: MainFunction) -> Tensor:
    return index_by(self, indices, main)


@torch_op("aten::meshgrid", "aten::meshgrid.indexing")
def meshgrid(tensors: list[Any], indexing: str = "ij") -> tuple[Value, ...]:
    """Expand one axis of each tensor over the axes of the others."""
    if indexing not in ("ij", "xy"):
        raise Invalid(f"has indexing '{indexing}', must be ij or xy")
    shape = tuple(tensor(x).size for x in tensors)
    made: list[Value] = []
    for axis, x in enumerate(tensors):
        own = tuple(size if axis == other else 1 for other, size in enumerate(shape))
        made.append(expand(reshape(x, own), shape))
    return tuple(made if indexing == "ij" or len(made) < 2 else [swap(x, 0, 1) for x in made])


@torch_op("aten::diff")
def diff(
    self: Value,
    n: int = 1,
    dim: int = -1,
    prepend: Value | None = None,
    append: Value | None = None,
) -> Any:
    """Subtract from each element of an axis the one before it, `n` times."""
    if not n:
        return self
    parts = [x for x in (prepend, self, append) if x is not None]
    x = join.cat(*parts, dim=dim)
    function = "xor(@0,@1)" if tensor(self).dtype == "i1" else "sub(@0,@1)"
    for _ in range(n):
        axis = axis_of(x, dim)
        size = shape_of(x)[axis]
        x = apply(function, cut(x, axis, 1, size), cut(x, axis, 0, size - 1))
    return x


@torch_op("aten::unfold")
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return the windows of an axis; their elements are a new last axis."""
    if not rank_of(self):
        return cut(reshape(self, (1,)), 0, 0, size)
    axis = axis_of(self, dimension)
    whole = shape_of(self)[axis]
    if step < 1 or size > whole:
        raise Invalid(f"has windows of {size} by steps of {step} of {whole} elements")
    starts = np.arange(0, whole - size + 1, step)
    windows = take(self, starts[:, None] + np.arange(size), axis)
    return move(windows, axis + 1, rank_of(windows) - 1)


@torch_op("aten::_local_scalar_dense", "aten::item")
def item(self: Value) -> Value:
    """Return an element as a number; of one that is used as a size, the importer makes a size."""
    return reshape(self, ())
