"""Where the elements of a tile are in a tensor: a flat index for each group of its dimensions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...dialects.core.tensor import Shape
from .number import Number, scalar


@dataclass(frozen=True)
class Axis:
    """Walk some dimensions of a tensor, the last one fastest, by one index from 0 on."""

    dims: tuple[int, ...]
    index: Number


class Run(NamedTuple):
    """Take a part of an axis: `size` steps of `stride` elements, one for each `inner` indices."""

    size: int
    stride: int
    inner: int


@dataclass(frozen=True)
class Coordinates:
    """Say for each dimension of a tensor of some shape where the elements of a tile are.

    The axes together walk each dimension once; those of size 1, or of which elements are
    repeated, may be left out.
    """

    shape: Shape
    axes: tuple[Axis, ...]

    @staticmethod
    def of(shape: Shape, indices: Sequence[Number]) -> "Coordinates":
        """Take one index for each dimension."""
        axes = tuple(Axis((dim,), index) for dim, index in enumerate(indices))
        return Coordinates(shape, axes)

    def indices(self) -> list[Number]:
        """Return the index along each dimension."""
        found: dict[int, Number] = {}
        for axis in self.axes:
            inner = math.prod(self.shape[dim] for dim in axis.dims)
            for position, dim in enumerate(axis.dims):
                inner //= max(self.shape[dim], 1)
                found[dim] = _part(axis.index, self.shape[dim], inner, outermost=position == 0)
        return [found[dim] if dim in found else scalar(0) for dim in range(len(self.shape))]

    def locate(self, strides: Shape, whole: bool = False) -> tuple[Shape, Shape, list[Number]]:
        """Return the fewest dimensions in which a tensor of these strides can be indexed.

        That is a shape, its strides and an index for each; a stride of 0 repeats an element. With
        `whole`, each axis has one at least, so that its bounds can be checked.
        """
        runs: list[Run] = []
        indices: list[Number] = []
        for axis in self.axes:
            found = self._runs(axis, strides) or ([Run(1, 1, 1)] if whole else [])
            for position, run in enumerate(found):
                if run.stride == 0:
                    continue
                runs.append(run)
                indices.append(_part(axis.index, run.size, run.inner, outermost=position == 0))
        return tuple(r.size for r in runs), tuple(r.stride for r in runs), indices

    def inside(self) -> Number | None:
        """Say which elements are inside of the tensor; None for a tensor without dimensions."""
        found: Number | None = None
        for axis in self.axes:
            size = math.prod(self.shape[dim] for dim in axis.dims)
            within = axis.index.greater_equal(0).logical_and(axis.index.less(size))
            found = within if found is None else found.logical_and(within)
        return found

    def _runs(self, axis: Axis, strides: Shape) -> list[Run]:
        """Merge the dimensions of an axis that are walked as one; the outermost run first."""
        runs: list[Run] = []
        inner = 1
        for dim in reversed(axis.dims):
            size, stride = self.shape[dim], strides[dim]
            if size == 1:
                continue
            if runs and stride == runs[-1].stride * runs[-1].size:
                last = runs.pop()
                runs.append(Run(last.size * size, last.stride, last.inner))
            else:
                runs.append(Run(size, stride, inner))
            inner *= size
        return runs[::-1]


def _part(index: Number, size: int, inner: int, outermost: bool) -> Number:
    """Return which of `size` steps an index is in; the outermost part may be beyond the last."""
    part = index / inner
    return part if outermost else part.remainder(size)
