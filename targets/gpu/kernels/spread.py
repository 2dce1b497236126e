"""Distribution of the elements of a tensor over programs: elements adjacent in memory together.

Where the dim order of the source differs from that of the result, a program processes a
rectangle: its rows are adjacent in the one, its columns in the other.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import Shape
from ..schedule.candidates import element_settings, rectangle_settings
from ..schedule.product_blocks import next_power
from .buffer import Buffer
from .builder import KernelBuilder
from .coordinates import Axis, Coordinates
from .value import Value

BLOCK, LEAST_BLOCK = 1024, 256
"""Elements that a program computes, at most and at least, when they are taken in a row."""

RECTANGLE, LEAST_RECTANGLE = 2048, 1024
"""Elements of a rectangle, at most and at least, when neither side is short."""

ROWS = 32
"""Rows of a rectangle when there are more."""

PROGRAMS = 256
"""Programs that keep a GPU busy: with fewer programs, blocks get smaller."""

LEAST = 256
"""Fewer elements than this are not worth a rectangle."""


class Sides(NamedTuple):
    """Split the dims of a tensor in those of rows, of columns, and others."""

    others: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]


def spread(
    kernel: KernelBuilder, shape: Shape, order: Sequence[int], sources: Sequence[Buffer]
) -> Coordinates:
    """Add a grid over a tensor with an order of dims; return the coordinates of a program's block.

    `sources`, of the same shape, are read at the same places.
    """
    sides = find_sides(shape, order, [source.strides for source in sources])
    if sides is None:
        return Coordinates(shape, (Axis(tuple(order), in_a_row(kernel, math.prod(shape))),))
    others, rows, columns = (math.prod(shape[dim] for dim in dims) for dims in sides)
    elements = _elements(likely(others * rows * columns), RECTANGLE, LEAST_RECTANGLE)
    height, width = sides_of_rectangle(likely(rows), likely(columns), elements)
    kernel.candidates = rectangle_settings(height, width)
    outer = (Axis(sides.others, kernel.programs(others).named("other")),) if others != 1 else ()
    row = kernel.axis(rows, "BM", height, name="rows").expand(1)
    column = kernel.axis(columns, "BN", width, name="columns").expand(0)
    return Coordinates(shape, (*outer, Axis(sides.rows, row), Axis(sides.columns, column)))


def in_a_row(kernel: KernelBuilder, count: int) -> Value:
    """Make a grid over so many elements; return the indices of a program's part."""
    block = _elements(likely(count), BLOCK, LEAST_BLOCK)
    kernel.candidates = element_settings(block)
    return kernel.axis(count, "BLOCK", block, name="index")


def _elements(count: int, most: int, least: int) -> int:
    """Choose the number of elements per program, of `count`."""
    while most > least and count < PROGRAMS * most:
        most //= 2
    return most


def find_sides(shape: Shape, order: Sequence[int], sources: Sequence[Shape]) -> Sides | None:
    """Find dims of which a source has others next to each other; None when there are none."""
    dims = [dim for dim in order if shape[dim] != 1]
    for strides in sources:
        moving = [dim for dim in dims if strides[dim] != 0]
        if likely(math.prod(shape[dim] for dim in moving)) < LEAST:
            continue
        nearest = min(moving, key=lambda dim: likely(strides[dim]))
        if nearest == dims[-1] or strides[dims[-1]] == 0:
            continue
        first = last = dims.index(nearest)
        while first and strides[dims[first - 1]] == strides[dims[first]] * shape[dims[first]]:
            first -= 1
        return Sides(tuple(dims[:first]), tuple(dims[first : last + 1]), tuple(dims[last + 1 :]))
    return None


def sides_of_rectangle(rows: int, columns: int, elements: int) -> tuple[int, int]:
    """Choose the height and the width of rectangles, powers of two."""
    width = min(elements // min(ROWS, next_power(rows)), next_power(columns))
    return min(elements // width, next_power(rows)), width
