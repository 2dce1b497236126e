"""Select what is only a place in memory: concats and slices."""

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.tensor import normalize_axis
from .....passes.rewriting import NoMatch
from ...select.images import is_made_here
from ..dialect.moves import CHANNELS, ROWS, Join, Window
from .selection import NvdlaSelection


def select_concat(op: tri.Concat, selection: NvdlaSelection) -> None:
    """Select a concat along channels or rows."""
    shape = tensor_of(op.y.type).shape
    axis = normalize_axis(op.axis, len(shape))
    if len(shape) != 4 or axis not in (CHANNELS, ROWS):
        raise NoMatch(f"{selection.description.name} joins images along channels or rows")
    with selection.place():
        y = selection.build(Join, list(op.xs), axis=axis).y
    selection.replaced(y, ())


def select_slice(op: tri.Slice, selection: NvdlaSelection) -> None:
    """Select a part of images that the accelerator has made."""
    name, shape = selection.description.name, tensor_of(op.x.type).shape
    if len(shape) != 4 or any(step != 1 for step in op.steps) or op.sizes[0] != shape[0]:
        raise NoMatch(f"{name} has parts of images, of adjacent elements")
    if not is_made_here(op.x, selection.rewriter):
        raise NoMatch(f"{name} has parts of results of its own")
    with selection.place():
        y = selection.build(Window, op.x, start=op.starts[1:], sizes=op.sizes[1:]).y
    selection.replaced(y, ())
