"""Write rows into a tensor from a place on that another tensor names, as into a cache."""

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.sizes.checks import need, need_same_shape
from ...core.tensor import Array, Tensor, normalize_axis, same_dtype
from ..dialect import TriOp
from ..numeric import need_integer


class TensorScatter(TriOp):
    """Copy `x` and write consecutive rows of `updates` along an axis, for each entry of axis 0.

    Row `starts[b]` and those behind it become the rows of `updates[b]`: the first `counts[b]`, or
    all of them. With `circular`, rows behind the last one go on at the first one; otherwise a row
    outside of the axis is an error at run time.

    Source: TensorScatter of ONNX 24, which has no counts.
    """

    x: Operand
    updates: Operand
    starts: Operand
    counts: Operand | None = None
    axis: int = -2
    circular: bool = False
    y: Result

    def infer(
        self, x: Tensor, updates: Tensor, starts: Tensor, counts: Tensor | None = None
    ) -> Tensor:
        same_dtype(x, updates)
        axis = normalize_axis(self.axis, x.rank)
        if axis == 0:
            raise Invalid("axis is 0, that of the entries, must be another one")
        shapes = [[n for d, n in enumerate(t.shape) if d != axis] for t in (x, updates)]
        fault = f"updates are {updates}, x is {x}, must be the same but for axis {axis}"
        need_same_shape(shapes[1], shapes[0], fault)
        size, length = x.shape[axis], updates.shape[axis]
        need(size, length, f"updates have {length} rows, must be at most {size}, those of x")
        for name, each in {"starts": starts, "counts": counts}.items():
            if each is not None:
                fault = f"{name} are {each}, must be one integer for each of {x.shape[0]} entries"
                need_same_shape(need_integer(each).shape, x.shape[:1], fault)
        return x

    def reference(
        self, x: Array, updates: Array, starts: Array, counts: Array | None = None
    ) -> Array:
        y = x.copy()
        rows, new = (np.moveaxis(each, self.axis, 1) for each in (y, updates))
        size, length = rows.shape[1], new.shape[1]
        for entry, start in enumerate(starts.tolist()):
            count = length if counts is None else min(max(int(counts[entry]), 0), length)
            if not self.circular and count and not 0 <= start <= size - count:
                raise Invalid(f"rows {start} to {start + count} are outside [0, {size})")
            places = (start + np.arange(count)) % max(size, 1)
            rows[entry, places] = new[entry, :count]
        return y
