"""Split convolutions whose data and weights do not fit into CBUF together: by rows, and columns."""

from collections.abc import Sequence
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
from ..dialect.moves import COLUMNS, ROWS, Join
from ..dialect.single import Sdp
from .cbuf import conv_sizes, fit
from .parts import Windows, even, window
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
        for part in _replace(conv, COLUMNS, even(columns, found.columns)):
            _split(part, configuration)
    elif found.rows < rows:
        starts = range(0, rows, found.rows)
        _replace(conv, ROWS, [(first, min(first + found.rows, rows)) for first in starts])


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
    kernel = tensor_of(conv.w.type).shape[2:]
    reach = tuple((n - 1) * by + 1 for n, by in zip(kernel, conv.dilations, strict=True))
    x, pads = Windows(reach, conv.strides, conv.pads).part(conv.x, axis, first, last)
    attributes: dict[str, Any] = {**conv.attributes, "pads": pads}
    sums = Conv.build(x, conv.w, **attributes)
    operands = [
        window(value, axis, first, last) if value is not None and is_image(value) else value
        for value in ending.operand_groups()[1:]
    ]
    return sums, Sdp.build(sums.y, *operands, **ending.attributes).result
