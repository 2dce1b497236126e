"""Select ops that move values: concats, slices, and nearest resizes."""

import numpy as np

from ....dialects import dla, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Array, Shape, normalize_axis
from ....dialects.dla.vector import RESIZE_BITS
from ....dialects.tri.image.interpolation import Axis
from ....passes.building import reshape
from ....passes.rewriting import NoMatch
from ..layout.memory_layout import MemoryLayout
from .images import elements_from, image_of, is_made_here, rows_shape, tensor_from
from .selection import Selection

CHANNELS = 3
"""The axis of images that packets write in whole atoms."""


def select_concat(op: tri.Concat, selection: Selection) -> None:
    """Select a concat along rows, columns or channels."""
    shape = tensor_of(op.y.type).shape
    axis = _image_axis("joins", normalize_axis(op.axis, len(shape)), shape)
    if not axis:
        raise NoMatch("concatenates along the batch, must be rows, columns or channels")
    shapes = [tensor_of(x.type).shape for x in op.xs]
    if axis == CHANNELS:
        for part in shapes[:-1]:
            _need_grains("joins parts of", part[1] if len(part) == 4 else part[-1], selection)
    with selection.place():
        new = selection.build(dla.Concat, list(map(_plain_image, op.xs)), axis=axis)
        back = elements_from(new.y, shape)
    selection.replace(back, ())


def select_slice(op: tri.Slice, selection: Selection) -> None:
    """Select a slice of an image that the accelerator has made."""
    name, shape = selection.description.name, tensor_of(op.x.type).shape
    if any(step != 1 for step in op.steps):
        raise NoMatch(f"{name} copies adjacent elements, has steps of {op.steps}")
    if not is_made_here(op.x, selection.rewriter):
        raise NoMatch(f"{name} copies windows of results of its own")
    start, sizes = [0, 0, 0], [1, 1, 1]
    for axis, whole in enumerate(shape):
        image_axis = _image_axis("takes part of", axis, shape)
        if image_axis:
            start[image_axis - 1], sizes[image_axis - 1] = op.starts[axis], op.sizes[axis]
        elif op.sizes[axis] != whole:
            raise NoMatch("takes part of the batch, must be of rows, columns or channels")
    _need_grains("takes channels behind", start[-1], selection)
    with selection.place():
        image = _plain_image(op.x)
        new = selection.build(dla.Slice, image, start=tuple(start), sizes=tuple(sizes))
        back = elements_from(new.y, tensor_of(op.y.type).shape)
    selection.replace(back, ())


def select_resize(op: tri.Resize, selection: Selection) -> None:
    """Select a nearest resize, if fixed-point steps find the same pixels."""
    before, after = tensor_of(op.x.type).shape, tensor_of(op.y.type).shape
    if op.mode != "nearest" or op.coordinate_transform == "tf_crop_and_resize":
        raise NoMatch(f"{selection.description.name} resizes to the nearest pixel")
    if before[:2] != after[:2]:
        raise NoMatch(f"{selection.description.name} resizes rows and columns, not channels")
    axes = [
        Axis(before[i], after[i], op.scales[i]).nearest(op.coordinate_transform, op.nearest_mode)
        for i in range(2, len(before))
    ]
    tables = [np.zeros(1, np.int64)] * (2 - len(axes)) + axes
    sizes = (1,) * (2 - len(axes)) + before[2:]
    (start_rows, step_rows), (start_columns, step_columns) = (
        _steps(table, size) for table, size in zip(tables, sizes, strict=True)
    )
    out = tuple(len(table) for table in tables)
    start, step = (start_rows, start_columns), (step_rows, step_columns)
    with selection.place():
        new = selection.build(dla.Resize, image_of(op.x), out=out, start=start, step=step)
        back = tensor_from(new.y, after)
    selection.replace(back, ())


def _plain_image(x: ir.Value) -> ir.Value:
    """Build the image whose axes are those of `_image_axis`."""
    shape = tensor_of(x.type).shape
    return image_of(x) if len(shape) == 4 else reshape(x, *rows_shape(shape))


def _image_axis(verb: str, axis: int, shape: Shape) -> int:
    """Return the axis of an image that corresponds to an axis of a tensor; 0 is the batch."""
    if len(shape) == 4:
        return (0, 3, 1, 2)[axis]
    if len(shape) == 3:
        return (0, 1, 3)[axis]
    if len(shape) == 2:
        return (1, 3)[axis]
    raise NoMatch(f"{verb} tensors of {len(shape)} axes, must be 2 to 4")


def _need_grains(verb: str, channels: int, selection: Selection) -> None:
    """Raise NoMatch for channels that do not start at a grain."""
    grain = MemoryLayout(selection.description).grain
    if channels % grain:
        name = selection.description.name
        raise NoMatch(f"{name} {verb} a multiple of {grain} channels, not {channels}")


def _steps(table: Array, size: int) -> tuple[int, int]:
    """Return the start and the step, in units of 2^-16, that reproduce a table of indices.

    The start closest to 0 is returned; positions are clamped to the image.
    """
    index, whole = np.arange(len(table)), 1 << RESIZE_BITS
    slopes = (size * whole / len(table), (size - 1) * whole / max(len(table) - 1, 1))
    for step in dict.fromkeys(round(slope) + near for slope in slopes for near in (0, -1, 1)):
        least = (table * whole - index * step)[table > 0]
        most = (table * whole + whole - 1 - index * step)[table < size - 1]
        low = int(least.max(initial=-(1 << 31)))
        high = int(most.min(initial=(1 << 31) - 1))
        start = min(max(0, low), high)
        found = np.clip(index * step + start >> RESIZE_BITS, 0, size - 1)
        if step >= 0 and low <= high and np.array_equal(found, table):
            return start, step
    raise NoMatch("no start and step in parts of 2^16 find the same pixels")
