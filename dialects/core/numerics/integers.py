"""The integer arithmetic of accelerators: windows of images, sums of products, requantisation.

Images are [rows, columns, channels]. Ops of the dialect `dla` and packets of accelerators
compute with these functions. No MLIR.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import Invalid
from .fixed_point import MOST_SHIFT, multiply_shift

Integers = npt.NDArray[np.int64]
Values = npt.NDArray[np.int8]
_I32 = np.iinfo(np.int32)


@dataclass(frozen=True)
class Factor:
    """Multiply by multiplier / 2^shift, and round."""

    multiplier: int
    shift: int
    rounding: str

    def times(self, x: Integers) -> Integers:
        """Return numbers times the factor."""
        return shifted(x, self.multiplier, self.shift, self.rounding)


PAIR_FIELDS: Mapping[str, tuple[str, str]] = {
    "out": ("out_rows", "out_columns"),
    "kernel": ("kernel_rows", "kernel_columns"),
    "strides": ("stride_rows", "stride_columns"),
    "dilations": ("dilation_rows", "dilation_columns"),
    "pads": ("pad_top", "pad_left"),
    "start": ("start_rows", "start_columns"),
    "step": ("step_rows", "step_columns"),
}
"""The fields, of packets and of ops on buffers, for the first two numbers of an attribute."""


def pair_of(fields: object, name: str) -> tuple[int, int]:
    """Return the pair of an attribute from the fields of a packet or of an op on buffers."""
    rows, columns = PAIR_FIELDS[name]
    return getattr(fields, rows), getattr(fields, columns)


def fields_of(**pairs: Sequence[int]) -> dict[str, int]:
    """Return the fields for the pairs of attributes."""
    return {
        field: number
        for name, pair in pairs.items()
        for field, number in zip(PAIR_FIELDS[name], pair[:2], strict=True)
    }


@dataclass(frozen=True)
class Window:
    """Describe how a kernel moves over rows and columns; each pair is of rows and of columns."""

    out: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int]

    @staticmethod
    def of(fields: object) -> "Window":
        """Return the window of a packet, or of an op on buffers."""
        names = ("out", "kernel", "strides", "dilations", "pads")
        return Window(*(pair_of(fields, name) for name in names))

    @property
    def taps(self) -> int:
        """Count the positions of the kernel."""
        return self.kernel[0] * self.kernel[1]

    def misses(self, sizes: Sequence[int]) -> bool:
        """Report whether any position of the kernel has no element of an image of these sizes."""
        return any(self._misses(axis, sizes[axis]) for axis in (0, 1))

    def _misses(self, axis: int, size: int) -> bool:
        stride, dilation, pad = self.strides[axis], self.dilations[axis], self.pads[axis]
        if (self.out[axis] - 1) * stride - pad >= size:
            return True
        # Where taps are not farther apart than the image is large, the first position tells.
        before = min(-(-pad // stride), self.out[axis] if dilation > size else 1)
        for start in range(-pad, -pad + before * stride, stride):
            tap = -(start // dilation)  # the first one that is not before the image
            if tap >= self.kernel[axis] or start + tap * dilation >= size:
                return True
        return False

    def values(self, x: Values, outside: int) -> Iterator[tuple[Values, npt.NDArray[np.bool_]]]:
        """Yield for each tap the values that it reads, and which of them are in the image."""
        for row in range(self.kernel[0]):
            rows, in_rows = self._positions(0, row, x.shape[0])
            for column in range(self.kernel[1]):
                columns, in_columns = self._positions(1, column, x.shape[1])
                inside = in_rows[:, None] & in_columns[None, :]
                found = x[rows[:, None], columns[None, :]]
                if not inside.all():
                    found[~inside] = outside
                yield found, inside

    def _positions(self, axis: int, tap: int, size: int) -> tuple[Integers, npt.NDArray[np.bool_]]:
        first = tap * self.dilations[axis] - self.pads[axis]
        positions = np.arange(self.out[axis], dtype=np.int64) * self.strides[axis] + first
        return np.clip(positions, 0, size - 1), (positions >= 0) & (positions < size)


def dense_sums(x: Values, weights: Values, window: Window, outside: int) -> Integers:
    """Convolve: x [rows, columns, C], weights [taps, C, K]; return sums [out, out, K].

    Products are of float64, exact: sums of up to 2^39 products of bytes stay below 2^53.
    """
    columns = np.stack([found for found, _ in window.values(x, outside)], axis=2)
    flat = columns.reshape(*window.out, -1).astype(np.float64)
    kernel = weights.reshape(-1, weights.shape[-1]).astype(np.float64)
    return (flat @ kernel).astype(np.int64)


def depthwise_sums(x: Values, weights: Values, window: Window, outside: int) -> Integers:
    """Convolve each channel by itself: x [rows, columns, C], weights [taps, C]."""
    sums = np.zeros((*window.out, x.shape[-1]), np.int64)
    for (found, _), kernel in zip(window.values(x, outside), weights, strict=True):
        sums += found.astype(np.int64) * kernel
    return sums


def conv_sums(
    x: Values, weights: Values, window: Window, mode: str, padded: int, outside: int
) -> Integers:
    """Convolve by packed weights, [taps, C, filters], or [taps, filters] if depthwise."""
    if mode == "dense":
        return dense_sums(x, weights.reshape(window.taps, -1, padded), window, outside)
    wide = np.pad(x, ((0, 0), (0, 0), (0, padded - x.shape[-1])))
    return depthwise_sums(wide, weights.reshape(window.taps, padded), window, outside)


TABLE_BYTES = 9
"""The bytes of a filter in a table: bias and multiplier (i32), and shift (i8)."""


def table_of(table: Values, padded: int) -> tuple[Integers, Integers, Integers]:
    """Return the biases, multipliers and shifts that a table has for all padded filters."""
    words = np.ascontiguousarray(table[: 8 * padded]).view(np.int32).astype(np.int64)
    return words[:padded], words[padded:], table[8 * padded :].astype(np.int64)


def require_i32(sums: Integers) -> None:
    """Raise Invalid for sums that overflow an accumulator of 32 bits."""
    if sums.size and (sums.min() < _I32.min or sums.max() > _I32.max):
        raise Invalid(f"sums reach {sums.min()} to {sums.max()}, beyond 32 bits")


def require_scale(multiplier: Integers, shift: Integers, bits: int) -> None:
    """Raise Invalid for multipliers and shifts that hardware does not have."""
    if multiplier.min() < 0 or multiplier.max() >= 1 << bits:
        raise Invalid(f"multiplier of more than {bits} bits")
    if shift.min() < 0 or shift.max() > MOST_SHIFT:
        raise Invalid(f"shift beyond 0 to {MOST_SHIFT}")


def divide(x: Integers, divisor: Integers) -> Integers:
    """Divide, and round half away from zero; |x| and divisors are below 2^61."""
    return np.sign(x) * ((2 * np.abs(x) + divisor) // (2 * divisor))


def finish(x: Integers, zero: int, low: int, high: int) -> Values:
    """Add a zero point and clamp to [low, high]."""
    if low > high:
        raise Invalid(f"clamps to {low} to {high}, an empty range")
    return np.clip(x + zero, low, high).astype(np.int8)


def pooled(
    x: Values, window: Window, mode: str, divisor: str, zero: int, factor: Factor
) -> Integers:
    """Take the maximum or the average of each window, over its elements in the image.

    The greatest value is multiplied and shifted without its zero point, and so is the sum where
    `divisor` is "none"; where it is "inside", the sum is divided, exactly and once, by the number
    of values in the image, too, and rounded half away from zero.
    """
    best = np.full((*window.out, x.shape[-1]), -(1 << 15), np.int64)
    sums, count = np.zeros_like(best), np.zeros((*window.out, 1), np.int64)
    for found, inside in window.values(x, zero):
        values, here = found.astype(np.int64), inside[..., None]
        best = np.maximum(best, np.where(here, values, -(1 << 15)))
        sums += np.where(here, values - zero, 0)
        count += here
    if not count.all():
        raise Invalid("pools a window that has nothing of the image")
    if mode == "max":
        return factor.times(best - zero)
    if divisor == "none":
        return factor.times(sums)
    return divide(sums * factor.multiplier, count << factor.shift)


def combined(
    a: Values, b: Values, operator: str, zeros: tuple[int, int], other: int, factor: Factor
) -> Integers:
    """Combine p = (a - zero) * multiplier and q = (b - zero) * other, and shift the result.

    The operator `mul` takes p * (b - zero), and does not look at `other`.
    """
    p = (a.astype(np.int64) - zeros[0]) * factor.multiplier
    q = b.astype(np.int64) - zeros[1]
    if operator == "mul":
        y = p * q
    elif operator == "add":
        y = p + q * other
    else:
        y = np.maximum(p, q * other) if operator == "max" else np.minimum(p, q * other)
    return shifted(y, 1, factor.shift, factor.rounding)


def resized(
    x: Values, out: tuple[int, int], start: tuple[int, int], step: tuple[int, int]
) -> Values:
    """Repeat or drop rows and columns: positions are (start + step * index) >> 16, clamped."""
    rows, columns = (
        np.clip(np.arange(out[axis]) * step[axis] + start[axis] >> 16, 0, x.shape[axis] - 1)
        for axis in (0, 1)
    )
    return x[rows[:, None], columns]


def looked_up(x: Values, table: Values) -> Values:
    """Replace each value by an entry of a table of 256; the first one is that of -128."""
    return table[x.astype(np.int64) + 128]


def shifted(x: Integers, multiplier: int, shift: int, rounding: str) -> Integers:
    """Compute x * multiplier / 2^shift with one multiplier and one shift."""
    return multiply_shift(x, np.array([multiplier]), np.array([shift]), rounding)
