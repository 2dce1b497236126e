"""Reading windows: from output positions, several at once, to elements of a padded input."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.tensor import Shape
from ...memory.strides import row_major
from .buffer import Buffer, Lanes, all_lanes, constant_vector
from .index import IndexExpr, place_dtype
from .products.contraction import splat
from .value import Value, arith


def lane_numbers(width: int, dtype: str = "i32") -> Value:
    """Emit the vector 0, 1, 2, … of an integer type."""
    return Value(constant_vector(list(range(width)), dtype), dtype)


def splat_index(index: IndexExpr, width: int, dtype: str = "i32") -> Value:
    """Repeat an index in all lanes, as an integer type."""
    return splat(index.to_value(dtype), width)


def repeated(value: Value, lanes: Lanes | None) -> Value:
    """Broadcast a scalar to all lanes, if any are given."""
    return value if lanes is None else splat(value, lanes.width)


def neighbours(start: IndexExpr, lanes: Lanes | None, dtype: str) -> Value:
    """Return the places of all lanes, as an integer type, where the first one's is `start`."""
    if lanes is None:
        return start.to_value(dtype)
    return splat_index(start, lanes.width, dtype) + lane_numbers(lanes.width, dtype)


def unsigned(value: Value) -> Value:
    """Reinterpret an integer as unsigned: negative values become large."""
    return Value(value.ssa, f"u{value.dtype}")


def divide_unsigned(value: Value, divisor: Size) -> Value:
    """Divide by a positive size; needs none of the guards of a division by a value."""
    if divisor == 1:
        return value
    return value.with_ssa(arith.divui(value.ssa, value.like(divisor).ssa))


def positions(start: IndexExpr, shape: Shape, width: int, dtype: str) -> list[Value]:
    """Return the coordinates of neighbouring row-major positions, one vector for each axis."""
    linear = neighbours(start, Lanes(width), dtype)
    coordinates: list[Value] = []
    for axis in reversed(range(len(shape))):
        if axis == 0:
            coordinates.append(linear)
            break
        size = linear.like(shape[axis])
        coordinates.append(linear.with_ssa(arith.remui(linear.ssa, size.ssa)))
        linear = divide_unsigned(linear, shape[axis])
    return coordinates[::-1]


@dataclass(frozen=True)
class Axis:
    """Describe one spatial axis of sliding windows."""

    size: Size
    stride: int
    begin: int
    dilation: int
    padded: bool


LINE = Axis(size=1, stride=1, begin=0, dilation=1, padded=False)
"""The first axis of an image that is a single line."""


@dataclass(frozen=True)
class WindowReader:
    """Read one tap of several windows at once: zero outside of the input.

    `plane` is the input with its spatial axes last; `axes` describe them. `dtype` is the integer
    type of places in vectors.
    """

    plane: Buffer
    axes: Sequence[Axis]
    dtype: str

    def corners(self, start: IndexExpr, outputs: Shape, width: int) -> list[Value]:
        """Return where `width` neighbouring windows begin, as one vector for each axis."""
        coordinates = positions(start, outputs, width, self.dtype)
        return [
            c * axis.stride - axis.begin for c, axis in zip(coordinates, self.axes, strict=True)
        ]

    def load(
        self,
        leading: Sequence[IndexExpr],
        corners: Sequence[Value],
        tap: Sequence[IndexExpr],
        lanes: Lanes,
    ) -> Value:
        """Load the elements under one tap of the windows at `corners`."""
        steps = self._steps(corners)
        at = self.plane.position([*leading, *[IndexExpr(0)] * len(self.axes)])
        strides = row_major(tuple(axis.size for axis in self.axes))
        for index, axis, stride in zip(tap, self.axes, strides, strict=True):
            at = at + index * (axis.dilation * stride)
        mask = self._inside(corners, tap, lanes)
        return self.plane.gather(at, steps.ssa, Lanes(lanes.width, mask))

    def _steps(self, corners: Sequence[Value]) -> Value:
        strides = row_major(tuple(axis.size for axis in self.axes))
        steps = corners[-1] * strides[-1] if strides[-1] != 1 else corners[-1]
        for corner, stride in zip(corners[:-1], strides[:-1], strict=True):
            steps = steps + corner * stride
        return steps

    def _inside(self, corners: Sequence[Value], tap: Sequence[IndexExpr], lanes: Lanes) -> Any:
        """Return the mask of windows whose tap is inside the input."""
        mask = lanes.mask
        for corner, index, axis in zip(corners, tap, self.axes, strict=True):
            if not axis.padded:
                continue
            at = corner + splat_index(index * axis.dilation, lanes.width, self.dtype)
            inside = unsigned(at).less(axis.size).ssa
            mask = inside if mask is None else arith.andi(mask, inside)
        return all_lanes(lanes.width) if mask is None else mask


def first_tap(edge: Size, start: IndexExpr, dilation: int) -> IndexExpr:
    """Return the first tap that is at an edge or behind it, of a window from `start` on."""
    # Rounded up; the numerator is made non-negative for the unsigned division.
    return ((IndexExpr(edge) - start).maximum(0) + (dilation - 1)) // dilation


def seen_sizes(outputs: Shape, taps: Shape, axes: Sequence[Axis]) -> Shape:
    """Return the extent of a padded input that all windows together read, per axis."""
    return tuple(
        (count - 1) * axis.stride + (reach - 1) * axis.dilation + 1
        for count, reach, axis in zip(outputs, taps, axes, strict=True)
    )


def inside_axis(first: IndexExpr, width: int, axis: Axis, step: int = 1) -> Any:
    """Return the mask of `width` places, each a step from the one before, that are in the input."""
    dtype = place_dtype(axis.size)
    steps = Value(constant_vector([step * lane for lane in range(width)], dtype), dtype)
    return unsigned(splat_index(first, width, dtype) + steps).less(axis.size).ssa


def inside_image(places: Sequence[IndexExpr], axes: Sequence[Axis], lanes: Lanes) -> Any:
    """Return the mask of the neighbours at some places, on every axis, that are in the input."""
    mask = inside_axis(places[-1], lanes.width, axes[-1])
    for place, axis in zip(places[:-1], axes[:-1], strict=True):
        inside = splat(place.within(0, axis.size), lanes.width).ssa
        mask = arith.andi(mask, inside)
    return mask if lanes.mask is None else arith.andi(mask, lanes.mask)


def window_axes(
    sizes: Shape,
    outputs: Shape,
    kernel: Shape,
    strides: Sequence[int],
    begins: Sequence[int],
    dilations: Sequence[int],
) -> list[Axis]:
    """Describe the spatial axes of windows; notes which ones are known to stay in the input."""
    axes: list[Axis] = []
    for size, count, taps, stride, begin, dilation in zip(
        sizes, outputs, kernel, strides, begins, dilations, strict=True
    ):
        last = (count - 1) * stride - begin + (taps - 1) * dilation
        padded = begin > 0 or not at_least(size - 1, last)
        axes.append(Axis(size, stride, begin, dilation, padded))
    return axes
