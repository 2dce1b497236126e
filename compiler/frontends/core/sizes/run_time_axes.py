"""Axes that a run chooses: what an op does along them, by ops whose axes are known.

Shapes that follow from the axes have sizes that the run finds. For axes that the tensor does not
have, or has twice, -1 is found, which is no size.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .....dialects import tri
from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.dim import highest
from .....dialects.core.tensor import Shape
from ..values import cast, constant, counted, number, tensor
from .found_sizes import FoundSizes
from .run_time_shapes import equal, from_front, listed

Along = Callable[[ir.Value], ir.Value]
"""Do something along axis 1."""


@dataclass(frozen=True)
class ChosenAxes:
    """Hold some axes of a tensor, of which a run knows which: `places` counts from the front.

    `taken` has a number for each axis of the tensor: 1 for a chosen one, 0 for others. `valid` is
    whether each is chosen once.
    """

    dims: Shape
    count: int
    places: ir.Value
    taken: ir.Value
    valid: ir.Value

    @staticmethod
    def of(dims: Shape, axes: ir.Value, rank: int | None = None) -> "ChosenAxes":
        """Return the axes that a list names; negative ones count from the end of `rank` axes."""
        count = tensor(axes).size
        flat = tri.Reshape.build(axes, shape=(count, 1)).y
        places = from_front(flat, len(dims) if rank is None else rank)
        same = tri.Equal.build(places, counted(len(dims), (1, len(dims)))).y
        taken = _sum(cast(same, "i64"), 0)
        once = _sum(tri.Minimum.build(taken, number(1)).y, 0)
        return ChosenAxes(dims, count, places, taken, equal(once, count))

    def with_ones(self) -> ir.Value:
        """Return the sizes of the tensor, 1 for chosen axes."""
        return self.replaced(1)

    def others(self) -> ir.Value:
        """Return the sizes of the axes that are not chosen."""
        free = tri.Sub.build(number(1), self.taken).y
        place = tri.Mul.build(tri.CumSum.build(free, axis=0).y, free).y
        wanted = np.arange(1, len(self.dims) - self.count + 1).reshape(-1, 1)
        there = tri.Equal.build(place, constant(wanted)).y
        return self._checked(_sum(tri.Where.build(there, self._sizes, number(0)).y, 1))

    def chosen(self) -> ir.Value:
        """Return the sizes of the tensor, 1 for axes that are not chosen."""
        return self._checked(tri.Where.build(equal(self.taken, 1), self._sizes, number(1)).y)

    def around(self) -> ir.Value:
        """Return how many elements there are before the one axis, along it, and after it."""
        axis = tri.Reshape.build(self.places, shape=()).y
        all_axes = counted(len(self.dims), (len(self.dims),))
        chosen = tri.Less, tri.Equal, tri.Greater
        counts = [
            tri.ReduceProd.build(
                tri.Where.build(which.build(all_axes, axis).y, self._sizes, number(1)).y, axes=(0,)
            ).y
            for which in chosen
        ]
        return self._checked(tri.Concat.build(counts, axis=0).y)

    def replaced(self, size: Size) -> ir.Value:
        """Return the sizes of the tensor, another one for the chosen axes."""
        return self._checked(tri.Where.build(equal(self.taken, 1), number(size), self._sizes).y)

    @property
    def most(self) -> tuple[Size, ...]:
        """Return limits of three sizes around an axis."""
        dims = [highest(size, 1) for size in self.dims]
        return (math.prod(dims), highest(0, *self.dims), math.prod(dims))

    @property
    def _sizes(self) -> ir.Value:
        return listed(self.dims)

    def _checked(self, sizes: ir.Value) -> ir.Value:
        return tri.Where.build(self.valid, sizes, number(-1)).y


def along_axis(x: ir.Value, axis: ir.Value, found: FoundSizes, apply: Along) -> ir.Value:
    """Apply a function that keeps the shape along an axis that a run chooses."""
    axes = ChosenAxes.of(tensor(x).shape, axis)
    around = found.compute(axes.around(), axes.most)
    y = apply(tri.Reshape.build(x, shape=around).y)
    return tri.Reshape.build(y, shape=axes.dims).y


def reduced(
    x: ir.Value, axes: ir.Value, found: FoundSizes, apply: Along, *, keepdims: bool
) -> ir.Value:
    """Apply a function that leaves nothing of an axis to all axes that a run chooses at once."""
    chosen = ChosenAxes.of(tensor(x).shape, axes)
    shape, limits = _reduced_shape(chosen, keepdims)
    if chosen.count == 1:
        sizes = found.compute(_joined(chosen.around(), shape), (*chosen.most, *limits))
        view, out = tri.Reshape.build(x, shape=sizes[:3]).y, sizes[3:]
    else:
        rank = len(chosen.dims)
        inside = _joined(chosen.with_ones(), chosen.chosen(), shape)
        most = (*(highest(size, 1) for size in chosen.dims),) * 2
        sizes = found.compute(inside, (*most, *limits))
        view, out = _rows(x, sizes[:rank], sizes[rank : 2 * rank]), sizes[2 * rank :]
    return tri.Reshape.build(apply(view), shape=out).y


def squeezed(x: ir.Value, axes: ir.Value, found: FoundSizes) -> tri.Reshape:
    """Drop axes of size 1 that a run chooses."""
    shape, limits = _reduced_shape(ChosenAxes.of(tensor(x).shape, axes), keepdims=False)
    return tri.Reshape.build(x, shape=found.compute(shape, limits))


def _reduced_shape(axes: ChosenAxes, keepdims: bool) -> tuple[ir.Value, tuple[Size, ...]]:
    """Return the sizes that are left of a tensor, and what each is at most."""
    if keepdims:
        return axes.with_ones(), tuple(highest(size, 1) for size in axes.dims)
    return axes.others(), (highest(0, *axes.dims),) * (len(axes.dims) - axes.count)


def _rows(x: ir.Value, kept: Sequence[Size], chosen: Sequence[Size]) -> ir.Value:
    """Return a row for each place along the axes that are kept, of what is along the chosen ones.

    Sizes are 1 for axes of the other kind.
    """
    dims = tensor(x).shape
    rows = tri.Reshape.build(_places(dims, kept), shape=(math.prod(kept), 1)).y
    columns = tri.Reshape.build(_places(dims, chosen), shape=(1, math.prod(chosen))).y
    flat = tri.Reshape.build(x, shape=(math.prod(dims),)).y
    return tri.Gather.build(flat, tri.Add.build(rows, columns).y, axis=0).y


def _places(dims: Sequence[Size], sizes: Sequence[Size]) -> ir.Value:
    """Return where the elements of a part of a tensor, from its first one on, are in memory."""
    rank = len(dims)
    total = number(0)
    for axis, size in enumerate(sizes):
        shape = tuple(size if axis == other else 1 for other in range(rank))
        step = number(math.prod(dims[axis + 1 :]))
        total = tri.Add.build(total, tri.Mul.build(counted(size, shape), step).y).y
    return total


def _joined(*lists: ir.Value) -> ir.Value:
    return tri.Concat.build(lists, axis=0).y


def _sum(x: ir.Value, axis: int) -> ir.Value:
    return tri.ReduceSum.build(x, axes=(axis,), keepdims=False).y
