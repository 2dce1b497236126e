"""Conversions of quantised numbers: from and to floats, storage integers, and other scales."""

import numpy as np

from ..core.errors import Invalid, need_one_of
from ..core.fields import Operand, Result
from ..core.numerics.fixed_point import ROUNDINGS, multiply_shift, need_factors
from ..core.numerics.integers import divide
from ..core.quantized import QuantizedType, check_scales, is_quantized, storage_range
from ..core.sizes.checks import need_same
from ..core.tensor import Array, Shape, Tensor, need_broadcast, normalize_axis, numpy_dtype
from .dialect import TriOp
from .numeric import need_float


class Quantize(TriOp):
    """Round `x / scale` to the nearest integer, halves to even; add the zero point, and saturate.

    `to` is a quantised type; `x` has its expressed type. All is computed in f32, of f64 in
    f64. Source: ONNX `QuantizeLinear`.
    """

    x: Operand
    to: str
    y: Result

    elementwise = True

    def infer(self, x: Tensor) -> Tensor:
        kind = QuantizedType.parse(self.to)
        if x.dtype != kind.expressed:
            raise Invalid(f"quantises {x} to numbers that stand for {kind.expressed}")
        if kind.storage == "i32":
            raise Invalid("quantises to i32, must be an integer of at most 16 bits")
        check_scales(x.shape, self.to)
        return Tensor(x.shape, str(kind))

    def reference(self, x: Array) -> Array:
        kind = QuantizedType.parse(self.to)
        wide = np.float64 if kind.expressed == "f64" else np.float32
        scale, zero = _scales(kind, x.ndim)
        y = np.rint(x.astype(wide) / scale.astype(wide)) + zero.astype(wide)
        y = np.where(np.isnan(y), np.zeros((), wide), y)
        return np.clip(y, kind.low, kind.high).astype(numpy_dtype(kind.storage))


class Dequantize(TriOp):
    """Return the numbers that integers represent: `(x - zero point) * scale`.

    `of` is the type of `x`. The difference is exact, the product is rounded once to the type that
    the numbers represent. Source: ONNX `DequantizeLinear`.
    """

    x: Operand
    of: str
    y: Result

    elementwise = True
    quantized = "any"

    def infer(self, x: Tensor) -> Tensor:
        kind = QuantizedType.parse(self.of)
        if x.dtype != str(kind):
            raise Invalid(f"dequantises {kind}, its operand is {x.dtype}")
        return Tensor(x.shape, kind.expressed)

    def reference(self, x: Array) -> Array:
        kind = QuantizedType.parse(self.of)
        dtype = numpy_dtype(kind.expressed)
        scale, zero = _scales(kind, x.ndim)
        difference = (x.astype(np.int64) - zero).astype(np.int32)
        return difference.astype(dtype) * scale.astype(dtype)


class StorageCast(TriOp):
    """Read storage integers as quantised numbers, or quantised numbers as storage integers.

    One of the types is quantised, the other is the type of its storage. Source: MLIR `quant.scast`.
    """

    x: Operand
    to: str
    y: Result

    elementwise = True
    quantized = "any"

    def infer(self, x: Tensor) -> Tensor:
        if is_quantized(self.to) == is_quantized(x.dtype):
            raise Invalid(f"casts {x.dtype} to {self.to}, one of them must be quantised")
        kind = QuantizedType.parse(self.to if is_quantized(self.to) else x.dtype)
        plain = x.dtype if is_quantized(self.to) else self.to
        if plain != kind.storage:
            raise Invalid(f"casts between {plain} and {kind}, which is held in {kind.storage}")
        y = Tensor(x.shape, str(kind) if is_quantized(self.to) else self.to)
        check_scales(y.shape, y.dtype)
        return y

    def reference(self, x: Array) -> Array:
        return x


LARGEST_BYTE, SMALLEST_ROW = 127, 2.0**-100
"""The largest number of a row, or of a block, that is rounded to bytes; rows of floats that are all
below the other are zeros."""


class QuantizeRows(TriOp):
    """Round each row of `x`, along the last axis, to bytes with a scale: a symmetric range.

    `numbers` is i8, of the shape of `x`; `scales` is f32, without the last axis; a row is about its
    numbers times its scale. With m the largest magnitude in a row, the scale is `m / 127`, and
    numbers are `x * (127 / m)`, all in f32, rounded to the nearest integer, halves to even. Where m
    is below 2^-100, both are 0. Where a row has NaN or infinities, its scale has it, too, and its
    numbers may be any.
    """

    x: Operand
    numbers: Result
    scales: Result

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if need_float(x).dtype == "f64" or not x.rank:
            raise Invalid(f"rounds rows of {x}, must have an axis, and be of f32 or less")
        return Tensor(x.shape, "i8"), Tensor(x.shape[:-1], "f32")

    def reference(self, x: Array) -> tuple[Array, Array]:
        rows = x.astype(np.float32)
        largest = np.max(np.abs(rows), axis=-1, initial=0)
        held = ~(largest < SMALLEST_ROW)
        most = np.float32(LARGEST_BYTE)
        factors = np.where(held, most / np.where(held, largest, 1), 0).astype(np.float32)
        numbers = np.nan_to_num(np.rint(rows * factors[..., None])).clip(-most, most)
        return numbers.astype(np.int8), np.where(held, largest / most, 0).astype(np.float32)


class Requantize(TriOp):
    """Bring sums of products to another scale, in integers alone.

    y = clamp(round(x * multiplier / 2^shift) + zero_point, low, high)

    `x` is i32, `to` an integer type with `low` and `high` in its range. There is one multiplier and
    one shift, or one of each for each index of `axis`. Multipliers have up to 31 bits, shifts are 0
    to 62; the product has 64 bits. `rounding` is the direction of halves: "half_away" from zero,
    "half_even" to the even neighbour, "half_up" to the greater.
    Source: gemmlowp; Jacob et al., 2018.
    """

    x: Operand
    multiplier: tuple[int, ...]
    shift: tuple[int, ...]
    zero_point: int = 0
    low: int
    high: int
    rounding: str = "half_away"
    axis: int = 0
    to: str
    y: Result

    elementwise = True

    def infer(self, x: Tensor) -> Tensor:
        if x.dtype != "i32":
            raise Invalid(f"requantises {x.dtype}, must be i32")
        need_one_of("rounding", self.rounding, ROUNDINGS)
        _need_bounds(self.to, self.low, self.high, self.zero_point)
        _need_factors(x.shape, self.multiplier, self.shift, self.axis)
        return Tensor(x.shape, self.to)

    def reference(self, x: Array) -> Array:
        factors = _along(np.array(self.multiplier, np.int64), x.ndim, self.axis)
        shifts = _along(np.array(self.shift, np.int64), x.ndim, self.axis)
        y = multiply_shift(x, factors, shifts, self.rounding) + self.zero_point
        return np.clip(y, self.low, self.high).astype(numpy_dtype(self.to))


class RequantizeMean(TriOp):
    """Convert means to another scale, in integers alone: of sums, and how many numbers each is of.

    y = clamp(round(x * multiplier / (count * 2^shift)) + zero_point, low, high)

    There is one division, and it is exact: halves go away from zero. `x` and `count`, which is
    above 0 and broadcasts to `x`, are i32. Products and divisors must be below 2^61.
    """

    x: Operand
    count: Operand
    multiplier: int
    shift: int
    zero_point: int = 0
    low: int
    high: int
    to: str
    y: Result

    elementwise = True

    def infer(self, x: Tensor, count: Tensor) -> Tensor:
        if (x.dtype, count.dtype) != ("i32", "i32"):
            raise Invalid(f"requantises {x} divided by {count}, both must be of i32")
        fault = f"divides {x} by {count}, which must broadcast to it"
        need_broadcast(count.shape, x.shape, fault)
        _need_bounds(self.to, self.low, self.high, self.zero_point)
        _need_factors(x.shape, (self.multiplier,), (self.shift,), 0)
        return Tensor(x.shape, self.to)

    def reference(self, x: Array, count: Array) -> Array:
        product, divisor = (
            x.astype(np.int64) * self.multiplier,
            count.astype(np.int64) << self.shift,
        )
        y = divide(product, divisor) + self.zero_point
        return np.clip(y, self.low, self.high).astype(numpy_dtype(self.to))


def _need_bounds(to: str, low: int, high: int, zero_point: int) -> None:
    need_one_of("to", to, ("i8", "ui8", "i16", "ui16", "i32"))
    least, most = storage_range(to)
    if not least <= low <= high <= most:
        raise Invalid(f"clamps to {low}:{high}, must be in {least}:{most} of {to}")
    if not -(1 << 31) <= zero_point < 1 << 31:
        raise Invalid(f"zero_point is {zero_point}, must fit in i32")


def _need_factors(
    shape: Shape, multiplier: tuple[int, ...], shift: tuple[int, ...], axis: int
) -> None:
    if len(multiplier) != len(shift):
        raise Invalid(f"has {len(multiplier)} multipliers and {len(shift)} shifts, must be as many")
    if len(multiplier) != 1:
        size, count = shape[normalize_axis(axis, len(shape))], len(multiplier)
        need_same(size, count, f"has {count} multipliers for axis {axis} of {list(shape)}")
    need_factors(multiplier, shift)


def _scales(kind: QuantizedType, rank: int) -> tuple[Array, Array]:
    """Return scales and zero points so that they broadcast to a tensor of a rank."""
    axis = 0 if kind.axis is None else kind.axis
    scales, zeros = np.array(kind.scales), np.array(kind.zero_points, np.int64)
    return _along(scales, rank, axis), _along(zeros, rank, axis)


def _along(numbers: Array, rank: int, axis: int) -> Array:
    """Give one number no axes, and several the axes that follow theirs."""
    if numbers.size == 1:
        return numbers.reshape(())
    return numbers.reshape(-1, *[1] * (rank - 1 - axis % rank))
