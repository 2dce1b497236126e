"""Coordinates of the elements of a tile: a flat index for each group of dimensions of a tensor."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....dialects.core.tensor import Shape
from .value import Value, scalar


@dataclass(frozen=True)
class Axis:
    """Walk some dimensions of a tensor, the last one fastest, by one index from 0 on."""

    dims: tuple[int, ...]
    index: Value


class Window(NamedTuple):
    """Take the elements of a dimension from `start` on, `step` apart; it has `size` in memory."""

    start: int
    step: int
    size: int


class Run(NamedTuple):
    """Take a part of an axis: `length` elements, one for each `inner` indices.

    They are those of a window, with the distance `stride` in memory.
    """

    length: int
    stride: int
    inner: int
    window: Window

    @property
    def is_whole(self) -> bool:
        return self.window == (0, 1, self.length)

    def place(self, index: Value, outermost: bool) -> Value:
        """Return where an index of the axis is in memory."""
        if self.length == 1 and not outermost:
            return scalar(self.window.start)
        return _part(index, self.length, self.inner, outermost) * self.window.step + (
            self.window.start
        )


@dataclass(frozen=True)
class Coordinates:
    """Locate the elements of a tile along each dimension of a tensor of some shape.

    The axes together walk each dimension once; dimensions of size 1 and dimensions of repeated
    elements may be left out.
    """

    shape: Shape
    axes: tuple[Axis, ...]

    @staticmethod
    def of(shape: Shape, indices: Sequence[Value]) -> "Coordinates":
        """Build coordinates from one index for each dimension."""
        axes = tuple(Axis((dim,), index) for dim, index in enumerate(indices))
        return Coordinates(shape, axes)

    def indices(self) -> list[Value]:
        """Return the index along each dimension."""
        found: dict[int, Value] = {}
        for axis in self.axes:
            for position, dim in enumerate(axis.dims):
                inner = math.prod(self.shape[dim] for dim in axis.dims[position + 1 :])
                found[dim] = _part(axis.index, self.shape[dim], inner, outermost=position == 0)
        return [found[dim] if dim in found else scalar(0) for dim in range(len(self.shape))]

    def locate(
        self, strides: Shape, windows: Sequence[Window] = (), whole: bool = False
    ) -> tuple[Shape, Shape, list[Value]]:
        """Return the fewest dimensions in which a tensor of these strides can be indexed.

        That is a shape, its strides and an index for each; a stride of 0 repeats an element. The
        tensor is what `windows` show of memory, if there are any. With `whole`, each axis has one
        dimension at least, so that its bounds can be checked.
        """
        windows = windows or [Window(0, 1, size) for size in self.shape]
        runs: list[Run] = []
        indices: list[Value] = []
        for axis in self.axes:
            found = self._runs(axis, strides, windows)
            if whole and not found:
                found = [Run(1, 1, 1, Window(0, 1, 1))]
            for position, run in enumerate(found):
                if run.stride == 0:
                    continue
                runs.append(run)
                indices.append(run.place(axis.index, outermost=position == 0))
        return tuple(r.window.size for r in runs), tuple(r.stride for r in runs), indices

    def inside(self) -> Value | None:
        """Return which elements are inside of the tensor; None for a tensor without dimensions."""
        found: Value | None = None
        for axis in self.axes:
            size = math.prod(self.shape[dim] for dim in axis.dims)
            within = axis.index.greater_equal(0).logical_and(axis.index.less(size))
            found = within if found is None else found.logical_and(within)
        return found

    def _runs(self, axis: Axis, strides: Shape, windows: Sequence[Window]) -> list[Run]:
        """Merge the dimensions of an axis that are walked as one; the outermost run first."""
        runs: list[Run] = []
        inner = 1
        for dim in reversed(axis.dims):
            size, stride, window = self.shape[dim], strides[dim], windows[dim]
            if size == 1 and not window.start:
                continue
            last = runs[-1] if runs else None
            extent = last.window.size if last else 1
            if last and last.is_whole and window.step == 1 and stride == last.stride * extent:
                merged = Window(window.start * extent, 1, window.size * extent)
                runs[-1] = Run(size * last.length, last.stride, last.inner, merged)
            else:
                runs.append(Run(size, stride, inner, window))
            inner *= size
        return runs[::-1]


def _part(index: Value, size: int, inner: int, outermost: bool) -> Value:
    """Return which of `size` steps an index is in; the outermost part may be beyond the last."""
    part = index / inner
    return part if outermost else part.remainder(size)
