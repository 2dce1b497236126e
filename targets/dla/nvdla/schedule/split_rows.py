"""Split convolutions whose data and weights do not fit into CBUF together: by rows, and columns."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .....dialects.core.attributes import tensor_of
from .....dialects.core.location import inner_location
from .....dialects.core.mlir import ir
from .....dialects.core.module import Module, ops
from .....passes.core import Pass
from .....passes.rewriting import users
from ...schedule.group_members import groups_of
from ..choice import NAME, Choice
from ..configuration import Configuration
from ..dialect.convolution import Conv
from ..dialect.moves import COLUMNS, ROWS, Join, Window
from ..dialect.single import Sdp
from .cbuf import conv_sizes, fit
from .places import is_image

FULL = Choice()


class SplitRows(Pass):
    """Make several convolutions of one that does not fit into CBUF: each computes some rows.

    They read windows of the input, which overlap, and store their rows side by side. Where a row of
    windows does not fit, columns are parts in the same way.

        %y = nvdla.sdp (nvdla.conv %x, %w)
            =>   %y = nvdla.join (nvdla.sdp (nvdla.conv (nvdla.window %x), %w)), …
    """

    target: Choice = FULL

    def run(self, module: Module) -> None:
        with module.operation.context:
            for group in groups_of(module, NAME):
                for conv in [op for op in ops(group.block) if isinstance(op, Conv)]:
                    _split(conv, self.target.configuration)


def sdp_of(conv: Conv) -> Sdp:
    """Return the op that ends a convolution."""
    (user,) = users(conv.y)
    return Sdp(user)


def _split(conv: Conv, configuration: Configuration) -> None:
    found = fit(conv_sizes(conv, configuration), configuration)
    _, _, rows, columns = tensor_of(conv.y.type).shape
    assert found is not None, "selection refuses what does not fit"
    if found.columns is not None:
        # Parts of columns have a fit of their own, maybe of fewer rows.
        for part in _replace(conv, COLUMNS, _even(columns, found.columns)):
            _split(part, configuration)
    elif found.rows < rows:
        starts = range(0, rows, found.rows)
        _replace(conv, ROWS, [(first, min(first + found.rows, rows)) for first in starts])


def _even(columns: int, most: int) -> list[tuple[int, int]]:
    """Return ranges of nearly as many columns each."""
    parts = -(-columns // most)
    bounds = [part * columns // parts for part in range(parts + 1)]
    return list(pairwise(bounds))


def _replace(conv: Conv, axis: int, ranges: Sequence[tuple[int, int]]) -> list[Conv]:
    """Compute ranges of rows or columns of a result by convolutions, and return these."""
    ending = sdp_of(conv)
    with ir.InsertionPoint(ending.operation), inner_location(ending.location):
        parts = [_part(conv, ending, axis, *each) for each in ranges]
        joined = Join.build([result for _, result in parts], axis=axis)
    joined.operation.location = ending.location
    ending.result.replace_all_uses_with(joined.y)
    ending.operation.erase()
    conv.operation.erase()
    return [part for part, _ in parts]


def _part(conv: Conv, ending: Sdp, axis: int, first: int, last: int) -> tuple[Conv, ir.Value]:
    """Build the rows or columns from `first` to `last` of a result."""
    spatial = axis - ROWS
    size = tensor_of(conv.x.type).shape[axis]
    reach = (tensor_of(conv.w.type).shape[axis] - 1) * conv.dilations[spatial] + 1
    start = first * conv.strides[spatial] - conv.pads[spatial]
    end = (last - 1) * conv.strides[spatial] - conv.pads[spatial] + reach
    inside = max(start, 0), min(end, size)
    pads = list(conv.pads)
    pads[spatial], pads[spatial + 2] = inside[0] - start, max(end - size, 0)
    assert pads[spatial + 2] <= conv.pads[spatial + 2], "windows end within the padding"
    attributes: dict[str, Any] = {**conv.attributes, "pads": tuple(pads)}
    sums = Conv.build(_window(conv.x, axis, *inside), conv.w, **attributes)
    operands = [
        _window(value, axis, first, last) if value is not None and is_image(value) else value
        for value in ending.operand_groups()[1:]
    ]
    return sums, Sdp.build(sums.y, *operands, **ending.attributes).result


def _window(image: ir.Value, axis: int, first: int, last: int) -> ir.Value:
    """Build the rows or columns from `first` to `last` of an image."""
    start, sizes = [0, 0, 0], list(tensor_of(image.type).shape[1:])
    start[axis - 1], sizes[axis - 1] = first, last - first
    return Window.build(image, start=tuple(start), sizes=tuple(sizes)).y
