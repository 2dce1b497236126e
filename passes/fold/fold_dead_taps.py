"""Cut off the parts of kernels that only ever see padding."""

from typing import Any

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.module import Module
from ...dialects.tri.image.window import Window
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite


class FoldDeadTaps(Pass):
    """Cut the outer taps of a convolution that lie in the padding for every window.

    Wide dilations on small maps do that, as in the pyramid of DeepLab: of 3x3 taps that are 24
    pixels apart, only the middle one ever meets a map of 16x16 pixels.

    tri.conv %x, %w {dilations 24, pads 24}   =>   tri.conv %x, (tri.slice %w) {pads 0}
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Cut())


class _Cut(Pattern):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        w, sizes = tensor_of(op.w.type), tensor_of(op.x.type).shape[2:]
        window = op.window(w.shape[2:])
        outputs = tensor_of(op.y.type).shape[2:]
        cuts = [_dead(window, a, sizes[a], outputs[a]) for a in range(window.rank)]
        if not any(map(any, cuts)):
            raise NoMatch("every outer tap meets a pixel")
        before, after = zip(*cuts, strict=True)
        taps = tuple(k - b - a for k, b, a in zip(window.kernel, before, after, strict=True))
        begins = _less(window.begins, before, op.dilations)
        ends = _less(window.ends, after, op.dilations)
        attributes: dict[str, Any] = op.attributes | {"pads": (*begins, *ends)}
        with rewriter.before(op):
            kept = tri.Slice.build(
                op.w,
                starts=(0, 0, *before),
                sizes=(*w.shape[:2], *taps),
                steps=(1,) * w.rank,
            )
            new = tri.Conv.build(op.x, kept.y, op.b, **attributes)
        rewriter.replace(op, new)


def _dead(window: Window, axis: int, size: int, outputs: int) -> tuple[int, int]:
    """Count the taps at the begin and at the end of an axis that see nothing but padding.

    One tap is always left, and as many as the padding, which cannot be negative, demands.
    """
    taps, dilation = window.kernel[axis], window.dilations[axis]
    begin, end = window.begins[axis], window.ends[axis]
    last = (outputs - 1) * window.strides[axis]
    before = after = 0
    while before < taps - 1 and last - begin + before * dilation < 0:
        before += 1
    while after < taps - before - 1 and (taps - 1 - after) * dilation - begin >= size:
        after += 1
    return min(before, begin // dilation), min(after, end // dilation)


def _less(
    pads: tuple[int, ...], cut: tuple[int, ...], dilations: tuple[int, ...]
) -> tuple[int, ...]:
    return tuple(p - c * d for p, c, d in zip(pads, cut, dilations, strict=True))
