"""Lowering of padding: the place that each element comes from, inside or not."""

from ....dialects import tri
from ....dialects.core.sizes.dim import ceildiv, highest
from ..kernels.buffer import Buffer
from ..kernels.epilogue import Reader
from ..kernels.value import Value, scalar
from ..registry import indexed


@indexed(tri.Pad)
def lower_pad(op: tri.Pad, x: Buffer) -> Reader:
    before, after = op.pads[: len(x.shape)], op.pads[len(x.shape) :]

    def read(at: list[Value]) -> Value:
        sides = zip(at, x.shape, before, after, strict=True)
        return x.load([_place(op.mode, *side) for side in sides], op.value)

    return read


def _place(mode: str, index: Value, size: int, before: int, after: int) -> Value:
    """Return the place in `x` along one axis; negative pads cut elements off first."""
    if (before <= 0 and after <= 0) or mode == "constant":
        return index - before
    cut = max(-before, 0)
    kept = size + min(before, 0) + min(after, 0)
    return _inside(mode, index - max(before, 0), kept, max(before, 0)) + cut


def _inside(mode: str, place: Value, kept: int, before: int) -> Value:
    """Map an index, at least `-before`, into the kept part of an axis."""
    if kept == 1:
        return scalar(0)
    if mode == "edge":
        return place.maximum(0).minimum(kept - 1)
    # An axis of one element, as a size of a run may say, has a period of one, too.
    period = highest(kept if mode == "wrap" else 2 * kept - 2, 1)
    turn = (place + ceildiv(before, period) * period).remainder(period)
    return turn if mode == "wrap" else turn.minimum(2 * kept - 2 - turn)
