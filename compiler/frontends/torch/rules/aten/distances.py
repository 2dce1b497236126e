"""Rules for distances between rows, and for products of three tensors."""

import numpy as np

from ......dialects import tri
from ......dialects.core.sizes.checks import need_static
from ....core.values import tensor
from ...registry import Value, torch_op
from ...views import Ints, reshape, take
from .. import reduce


@torch_op("aten::_cdist_forward")
def cdist(x1: Value, x2: Value, p: float, compute_mode: int | None = None) -> Value:
    """Return the distance of each row of one tensor to each row of another."""
    *outer1, rows1, columns = tensor(x1).shape
    *outer2, rows2, _ = tensor(x2).shape
    a = reshape(x1, (*outer1, rows1, 1, columns))
    b = reshape(x2, (*outer2, 1, rows2, columns))
    return reduce.vector_norm(tri.Sub.build(a, b).y, p, -1, False)


@torch_op("aten::_pdist_forward")
def pdist(self: Value, p: float = 2.0) -> Value:
    """Return the distance of each row to each row after it."""
    rows = tensor(self).shape[0]
    need_static(rows, "axis of rows that are compared with one another")
    first, second = (take(self, index, 0) for index in np.triu_indices(rows, 1))
    return reduce.vector_norm(tri.Sub.build(first, second).y, p, -1, False)


@torch_op("aten::_trilinear")
def trilinear(
    i1: Value,
    i2: Value,
    i3: Value,
    expand1: Ints = (),
    expand2: Ints = (),
    expand3: Ints = (),
    sumdim: Ints = (),
    unroll_dim: int = 1,
) -> Value:
    """Add up the products of three tensors, each with new axes at the places it names."""
    pairs = zip((i1, i2, i3), (expand1, expand2, expand3), strict=True)
    a, b, c = (_with_axes(x, axes) for x, axes in pairs)
    product = tri.Mul.build(tri.Mul.build(a, b).y, c).y
    return reduce.sum_(product, sumdim) if sumdim else product


def _with_axes(x: Value, axes: Ints) -> Value:
    shape = list(tensor(x).shape)
    for axis in sorted(axes):
        shape.insert(axis, 1)
    return reshape(x, shape)
