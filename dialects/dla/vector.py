"""Elementwise ops and ops that move values, on tensors."""

from collections.abc import Sequence

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.numerics.integers import looked_up, resized
from ..core.tensor import Array, Tensor, normalize_axis
from .arithmetic import Combination, Rescaled
from .dialect import TensorOp, each_image, need_image, need_pair, stacked

RESIZE_BITS = 16


class Eltwise(TensorOp, Combination):
    """Combine two tensors, with one rounding at the end.

    y = clamp(round(op(p, q) / 2^shift) + destination_zero), p = (x - source_zero) * multiplier and
    q = (other - other_zero) * other_multiplier; the operator "mul" takes p * (other - other_zero).
    One image, row or column of `other` is broadcast.
    """

    x: Operand
    other: Operand
    y: Result

    packet = "eltwise"

    def infer(self, x: Tensor, other: Tensor) -> Tensor:
        shape, second = need_image("x", x), need_image("other", other)
        fits = all(b in (1, a) for a, b in zip(shape[:3], second[:3], strict=True))
        if not fits or shape[3] != second[3]:
            raise Invalid(f"combines {x} with {other}")
        self.check_combination()
        return x

    def reference(self, x: Array, other: Array) -> Array:
        return stacked([self.combine(a, b) for a, b in each_image(x, other)])


class Lookup(TensorOp):
    """Replace each value by an entry of a table of 256 bytes; the first one is that of -128."""

    x: Operand
    table: Operand
    y: Result

    packet = "lookup"

    def infer(self, x: Tensor, table: Tensor) -> Tensor:
        need_image("x", x)
        if table != Tensor((256,), "i8"):
            raise Invalid(f"table is {table}, must be {Tensor((256,), 'i8')}")
        return x

    def reference(self, x: Array, table: Array) -> Array:
        return looked_up(x, table)


class Resize(TensorOp):
    """Repeat or drop rows and columns: positions are (start + step * index) >> 16, clamped.

    `out` is the number of rows and columns of the result.
    """

    x: Operand
    out: tuple[int, ...]
    start: tuple[int, ...] = (0, 0)
    step: tuple[int, ...]
    y: Result

    packet = "resize"

    def infer(self, x: Tensor) -> Tensor:
        batch, _, _, channels = need_image("x", x)
        need_pair("out", self.out, 1)
        need_positions(self.start, self.step)
        return Tensor((batch, *self.out, channels), "i8")

    def reference(self, x: Array) -> Array:
        pairs = [(pair[0], pair[1]) for pair in (self.out, self.start, self.step)]
        return stacked([resized(image, *pairs) for image in x])


def need_positions(start: Sequence[int], step: Sequence[int]) -> None:
    """Raise Invalid unless starts are numbers of 32 bits with a sign, steps without one."""
    for what, pair, least in (("start", start, -(1 << 31)), ("step", step, 0)):
        need_pair(what, pair, least)
        if max(pair) >= least + (1 << 32):
            raise Invalid(f"{what} is {tuple(pair)}, must have at most 32 bits")


class Copy(TensorOp, Rescaled):
    """Rescale values: clamp(round((x - zero) * multiplier / 2^shift) + zero)."""

    x: Operand
    y: Result

    packet = "copy"

    def infer(self, x: Tensor) -> Tensor:
        need_image("x", x)
        self.check_scale()
        return x

    def reference(self, x: Array) -> Array:
        return self.rescale(x)


class Concat(TensorOp):
    """Concatenate images along rows (1), columns (2) or channels (3)."""

    xs: Sequence[Operand]
    axis: int = 3
    y: Result

    def infer(self, xs: Sequence[Tensor]) -> Tensor:
        if not xs:
            raise Invalid("concatenates nothing")
        shapes = [need_image("operand", x) for x in xs]
        along = normalize_axis(self.axis, 4)
        if not along:
            raise Invalid("concatenates along the batch, must be rows, columns or channels")
        rest = {shape[:along] + shape[along + 1 :] for shape in shapes}
        if len(rest) != 1:
            raise Invalid(f"joins {' and '.join(map(str, xs))} along axis {self.axis}")
        total = sum(shape[along] for shape in shapes)
        return Tensor((*shapes[0][:along], total, *shapes[0][along + 1 :]), "i8")

    def reference(self, xs: Sequence[Array]) -> Array:
        return np.concatenate(list(xs), axis=self.axis)


class Slice(TensorOp):
    """Extract a window of images: `start` and `sizes` have rows, columns and channels."""

    x: Operand
    start: tuple[int, ...]
    sizes: tuple[int, ...]
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        shape = need_image("x", x)
        if len(self.start) != 3 or len(self.sizes) != 3:
            raise Invalid("start and sizes must have 3 entries each: rows, columns, channels")
        for first, size, whole in zip(self.start, self.sizes, shape[1:], strict=True):
            if first < 0 or size < 1 or first + size > whole:
                raise Invalid(
                    f"takes {self.start} to {_ends(self.start, self.sizes)} of {shape[1:]}"
                )
        return Tensor((shape[0], *self.sizes), "i8")

    def reference(self, x: Array) -> Array:
        window = zip(self.start, _ends(self.start, self.sizes), strict=True)
        return x[:, *(slice(first, end) for first, end in window)]


def _ends(start: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(first + size for first, size in zip(start, sizes, strict=True))
