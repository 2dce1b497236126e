"""Let convolutions pad their input themselves."""

from typing import Any

from ...dialects import tri
from ...dialects.core.module import Module
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite


class FoldPad(Pass):
    """Take the zeros that a pad puts around the pixels into the pads of the convolution after it.

    %p = tri.pad %x {0, 0, 1, 1, 0, 0, 1, 1}; %y = tri.conv %p, %w {pads 0}
        =>   %y = tri.conv %x, %w {pads 1}
    """

    def run(self, module: Module) -> None:
        rewrite(module, _ConvOfPad())


class _ConvOfPad(Pattern):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        pad = rewriter.producer(op.x, tri.Pad)
        rank = len(pad.pads) // 2
        if pad.mode != "constant" or pad.value != 0:
            raise NoMatch("pads with something other than zeros")
        if any(pad.pads[:2]) or any(pad.pads[rank : rank + 2]) or min(pad.pads) < 0:
            raise NoMatch("pads batches or channels, or cuts off")
        more = (*pad.pads[2:rank], *pad.pads[rank + 2 :])
        pads = tuple(have + new for have, new in zip(op.pads, more, strict=True))
        attributes: dict[str, Any] = op.attributes | {"pads": pads}
        with rewriter.before(op):
            new = tri.Conv.build(pad.x, op.w, op.b, **attributes)
        rewriter.replace(op, new, pad)
