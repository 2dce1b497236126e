"""Tensors along a new axis, and the tensors that an axis has."""

from collections.abc import Sequence

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.sizes.checks import need_same_shape, need_static
from ...core.tensor import Array, Tensor, normalize_axis, same_dtype
from ..dialect import TriOp


class Stack(TriOp):
    """Join tensors of one type along a new axis. Source: torch `stack`."""

    xs: Sequence[Operand]
    axis: int
    y: Result

    quantized = "one scale"

    def infer(self, xs: Sequence[Tensor]) -> Tensor:
        if not xs:
            raise Invalid("has no operands, must have at least 1")
        first, dtype = xs[0], same_dtype(*xs)
        axis = normalize_axis(self.axis, first.rank + 1)
        for x in xs:
            need_same_shape(x.shape, first.shape, f"joins {first} and {x}, must be the same")
        return Tensor((*first.shape[:axis], len(xs), *first.shape[axis:]), dtype)

    def reference(self, xs: Sequence[Array]) -> Array:
        return np.stack(xs, self.axis)


class Unbind(TriOp):
    """Take a tensor apart into those that it has along an axis. Source: torch `unbind`."""

    x: Operand
    axis: int
    ys: Sequence[Result]

    quantized = "one scale"

    def infer(self, x: Tensor) -> tuple[Tensor, ...]:
        axis = normalize_axis(self.axis, x.rank)
        part = Tensor((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype)
        return (part,) * need_static(x.shape[axis], f"size of axis {axis}, which is taken apart,")

    def reference(self, x: Array) -> tuple[Array, ...]:
        return tuple(np.moveaxis(x, self.axis, 0))
