"""Elementwise ops and ops that move values, on tensors."""

from collections.abc import Sequence

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.integers import Factor, combined, finish, looked_up, resized
from ..core.tensor import Array, Shape, Tensor, normalize_axis
from .dialect import (
    HIGH,
    LOW,
    TensorOp,
    each_image,
    need_bounds,
    need_image,
    need_pair,
    need_scaling,
    stacked,
)

OPERATORS = ("add", "mul", "max", "min")
RESIZE_BITS = 16


class Eltwise(TensorOp):
    """Combine two tensors, with one rounding at the end.

    y = clamp(round(op(p, q) / 2^shift) + destination_zero), p = (x - source_zero) * multiplier and
    q = (other - other_zero) * other_multiplier; the operator "mul" takes p * (other - other_zero).
    One image, row or column of `other` is broadcast.
    """

    x: Operand
    other: Operand
    operator: str
    source_zero: int = 0
    other_zero: int = 0
    multiplier: int = 1
    other_multiplier: int = 1
    shift: int = 0
    rounding: str = "half_away"
    destination_zero: int = 0
    low: int = LOW
    high: int = HIGH
    y: Result

    packet = "eltwise"

    @staticmethod
    def infer(
        x: Tensor,
        other: Tensor,
        *,
        operator: str,
        source_zero: int,
        other_zero: int,
        multiplier: int,
        other_multiplier: int,
        shift: int,
        rounding: str,
        destination_zero: int,
        low: int,
        high: int,
    ) -> Tensor:
        shape, second = need_image("x", x), need_image("other", other)
        if operator not in OPERATORS:
            raise Invalid(f"operator is '{operator}', must be one of {', '.join(OPERATORS)}")
        fits = all(b in (1, a) for a, b in zip(shape[:3], second[:3], strict=True))
        if not fits or shape[3] != second[3]:
            raise Invalid(f"combines {x} with {other}")
        zeros = (source_zero, other_zero, destination_zero)
        need_scaling((multiplier, other_multiplier), (shift,), rounding, *zeros)
        need_bounds(low, high)
        return x

    @staticmethod
    def reference(
        x: Array,
        other: Array,
        *,
        operator: str,
        source_zero: int,
        other_zero: int,
        multiplier: int,
        other_multiplier: int,
        shift: int,
        rounding: str,
        destination_zero: int,
        low: int,
        high: int,
    ) -> Array:
        factor, zeros = Factor(multiplier, shift, rounding), (source_zero, other_zero)
        images = [
            combined(a, b, operator, zeros, other_multiplier, factor)
            for a, b in each_image(x, other)
        ]
        return stacked([finish(image, destination_zero, low, high) for image in images])


class Lookup(TensorOp):
    """Replace each value by an entry of a table of 256 bytes; the first one is that of -128."""

    x: Operand
    table: Operand
    y: Result

    packet = "lookup"

    @staticmethod
    def infer(x: Tensor, table: Tensor) -> Tensor:
        need_image("x", x)
        if table != Tensor((256,), "i8"):
            raise Invalid(f"table is {table}, must be {Tensor((256,), 'i8')}")
        return x

    @staticmethod
    def reference(x: Array, table: Array) -> Array:
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

    @staticmethod
    def infer(x: Tensor, *, out: Shape, start: Shape, step: Shape) -> Tensor:
        batch, _, _, channels = need_image("x", x)
        need_pair("out", out, 1)
        need_positions(start, step)
        return Tensor((batch, *out, channels), "i8")

    @staticmethod
    def reference(x: Array, *, out: Shape, start: Shape, step: Shape) -> Array:
        pairs = [(pair[0], pair[1]) for pair in (out, start, step)]
        return stacked([resized(image, *pairs) for image in x])


def need_positions(start: Sequence[int], step: Sequence[int]) -> None:
    """Raise Invalid unless starts are numbers of 32 bits with a sign, steps without one."""
    for what, pair, least in (("start", start, -(1 << 31)), ("step", step, 0)):
        need_pair(what, pair, least)
        if max(pair) >= least + (1 << 32):
            raise Invalid(f"{what} is {tuple(pair)}, must have at most 32 bits")


class Copy(TensorOp):
    """Rescale values: clamp(round((x - zero) * multiplier / 2^shift) + zero)."""

    x: Operand
    source_zero: int = 0
    multiplier: int = 1
    shift: int = 0
    rounding: str = "half_away"
    destination_zero: int = 0
    low: int = LOW
    high: int = HIGH
    y: Result

    packet = "copy"

    @staticmethod
    def infer(
        x: Tensor,
        *,
        source_zero: int,
        multiplier: int,
        shift: int,
        rounding: str,
        destination_zero: int,
        low: int,
        high: int,
    ) -> Tensor:
        need_image("x", x)
        need_scaling((multiplier,), (shift,), rounding, source_zero, destination_zero)
        need_bounds(low, high)
        return x

    @staticmethod
    def reference(
        x: Array,
        *,
        source_zero: int,
        multiplier: int,
        shift: int,
        rounding: str,
        destination_zero: int,
        low: int,
        high: int,
    ) -> Array:
        scaled = Factor(multiplier, shift, rounding).times(x.astype(np.int64) - source_zero)
        return finish(scaled, destination_zero, low, high)


class Concat(TensorOp):
    """Concatenate images along rows (1), columns (2) or channels (3)."""

    xs: Sequence[Operand]
    axis: int = 3
    y: Result

    @staticmethod
    def infer(xs: Sequence[Tensor], *, axis: int) -> Tensor:
        if not xs:
            raise Invalid("joins nothing")
        shapes = [need_image("operand", x) for x in xs]
        along = normalize_axis(axis, 4)
        if not along:
            raise Invalid("joins along the batch, must be rows, columns or channels")
        rest = {shape[:along] + shape[along + 1 :] for shape in shapes}
        if len(rest) != 1:
            raise Invalid(f"joins {' and '.join(map(str, xs))} along axis {axis}")
        total = sum(shape[along] for shape in shapes)
        return Tensor((*shapes[0][:along], total, *shapes[0][along + 1 :]), "i8")

    @staticmethod
    def reference(xs: Sequence[Array], *, axis: int) -> Array:
        return np.concatenate(list(xs), axis=axis)


class Slice(TensorOp):
    """Extract a window of images: `start` and `sizes` have rows, columns and channels."""

    x: Operand
    start: tuple[int, ...]
    sizes: tuple[int, ...]
    y: Result

    @staticmethod
    def infer(x: Tensor, *, start: tuple[int, ...], sizes: tuple[int, ...]) -> Tensor:
        shape = need_image("x", x)
        if len(start) != 3 or len(sizes) != 3:
            raise Invalid("start and sizes must have 3 entries each: rows, columns, channels")
        for first, size, whole in zip(start, sizes, shape[1:], strict=True):
            if first < 0 or size < 1 or first + size > whole:
                raise Invalid(f"takes {start} to {_ends(start, sizes)} of {shape[1:]}")
        return Tensor((shape[0], *sizes), "i8")

    @staticmethod
    def reference(x: Array, *, start: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
        window = zip(start, _ends(start, sizes), strict=True)
        return x[:, *(slice(first, end) for first, end in window)]


def _ends(start: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(first + size for first, size in zip(start, sizes, strict=True))
