"""Split convolutions whose data and weights do not fit into CBUF together, by rows."""

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
from ..dialect.moves import ROWS, Join, Window
from ..dialect.single import Sdp
from .cbuf import conv_sizes, fit

FULL = Choice()


class SplitRows(Pass):
    """Make several convolutions of one that does not fit into CBUF: each computes some rows.

    They read windows of the input, which overlap, and store their rows side by side.

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
    found = fit(conv_sizes(conv), configuration)
    rows = tensor_of(conv.y.type).shape[2]
    assert found is not None, "selection refuses what does not fit"
    if found.rows >= rows:
        return
    ending = sdp_of(conv)
    with ir.InsertionPoint(ending.operation), inner_location(ending.location):
        parts = [
            _part(conv, ending, first, min(first + found.rows, rows))
            for first in range(0, rows, found.rows)
        ]
        joined = Join.build(parts, axis=ROWS)
    joined.operation.location = ending.location
    ending.result.replace_all_uses_with(joined.y)
    ending.operation.erase()
    conv.operation.erase()


def _part(conv: Conv, ending: Sdp, first: int, last: int) -> ir.Value:
    """Build the rows from `first` to `last` of a result."""
    _, channels, height, width = tensor_of(conv.x.type).shape
    top, left, bottom, right = conv.pads
    reach = (tensor_of(conv.w.type).shape[2] - 1) * conv.dilations[0] + 1
    start = first * conv.strides[0] - top
    end = (last - 1) * conv.strides[0] - top + reach
    inside = max(start, 0), min(end, height)
    window = Window.build(
        conv.x, start=(0, inside[0], 0), sizes=(channels, inside[1] - inside[0], width)
    )
    pads = (inside[0] - start, left, max(end - height, 0), right)
    assert pads[2] <= bottom, "windows end within the padding"
    attributes: dict[str, Any] = {**conv.attributes, "pads": pads}
    sums = Conv.build(window.y, conv.w, **attributes)
    return Sdp.build(sums.y, *ending.operand_groups()[1:], **ending.attributes).result
