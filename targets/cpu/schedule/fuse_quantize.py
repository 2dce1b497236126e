"""Quantise in few instructions."""

import numpy as np

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import view
from ....dialects.core.tensor import numpy_dtype
from ....dialects.cpu.quantize import MOST_ZERO
from ....passes.core import Pass
from ....passes.quantize.byte_functions import BYTES
from ....passes.rewriting import NoMatch, Pattern, Rewriter, rewrite
from .magnitudes import is_finite


class FuseQuantize(Pass):
    """Make what quantises one op, and of bytes that are only dequantised again, no bytes.

    A whole number between the limits is the same in f32. NaN becomes the byte 0: where the lowest
    byte is another one, what is quantised must be finite.

        tri.cast (tri.clip (tri.add (tri.round %x), %zero))   =>   cpu.quantize %x
        tri.cast (cpu.quantize %x) to f32                     =>   tri.round (tri.clip %x)
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Quantized())
        rewrite(module, _Dequantized())


class _Quantized(Pattern):
    root = tri.Cast

    def rewrite(self, op: tri.Cast, rewriter: Rewriter) -> None:
        to = tensor_of(op.y.type).dtype
        if to not in BYTES or tensor_of(op.x.type).dtype != "f32":
            raise NoMatch("does not make bytes of f32")
        clip = rewriter.sole_producer(op.x, tri.Clip)
        last = rewriter.find_producer(clip.x)
        shift = rewriter.sole_producer(clip.x, tri.Add) if isinstance(last, tri.Add) else None
        zero = 0.0 if shift is None else rewriter.scalar(shift.b)
        rounded = rewriter.sole_producer(clip.x if shift is None else shift.a, tri.Round)
        info = np.iinfo(numpy_dtype(to))
        if not info.min <= clip.min <= clip.max <= info.max:
            raise NoMatch(f"is limited to {clip.min} to {clip.max}, must be bytes")
        if any(number != int(number) for number in (clip.min, clip.max, zero)):
            raise NoMatch("is limited to or shifted by fractions")
        if abs(zero) > MOST_ZERO:
            raise NoMatch(f"is shifted by {zero}")
        if clip.min and not is_finite(rounded.x, rewriter):
            raise NoMatch("may be NaN, which becomes another byte than the lowest")
        with rewriter.before(op):
            made = cpu.Quantize.build(
                rounded.x, zero=int(zero), low=int(clip.min), high=int(clip.max), to=to
            )
        rewriter.replace(op, made, clip, rounded, *([] if shift is None else [shift]))


class _Dequantized(Pattern):
    root = tri.Cast

    def rewrite(self, op: tri.Cast, rewriter: Rewriter) -> None:
        if tensor_of(op.y.type).dtype != "f32":
            raise NoMatch("does not make f32")
        shifted = rewriter.find_producer(op.x)
        shift = rewriter.sole_producer(op.x, tri.Sub) if isinstance(shifted, tri.Sub) else None
        taken = 0 if shift is None else int(rewriter.scalar(shift.b))
        value = op.x if shift is None else shift.a
        wide = rewriter.sole_producer(value, tri.Cast) if _is_wide(value) else None
        bytes_ = rewriter.sole_producer(value if wide is None else wide.x, cpu.Quantize)
        if not is_finite(bytes_.x, rewriter):
            raise NoMatch("may be NaN, which becomes a byte")
        offset = bytes_.zero - taken
        if offset == 0 and not _is_added(op.y):
            raise NoMatch("a zero may be a negative one, which others than sums might see")
        with rewriter.before(op):
            low, high = (float(limit - bytes_.zero) for limit in (bytes_.low, bytes_.high))
            y = tri.Round.build(tri.Clip.build(bytes_.x, min=low, max=high).y).y
            if offset:
                constant = np.array(offset, np.float32)
                added = tri.build_constant(rewriter.module, constant, "offset").results[0]
                y = tri.Add.build(y, added).y
        others = [each for each in (shift, wide, bytes_) if each is not None]
        rewriter.replace(op, [y], *others)


def _is_wide(value: ir.Value) -> bool:
    return tensor_of(value.type).dtype == "i32"


def _is_added(value: ir.Value) -> bool:
    """Return whether a value, times a number, only becomes part of sums with other tensors."""
    readers = [view(use.owner) for use in value.uses]
    if not all(isinstance(reader, tri.Mul) for reader in readers):
        return False
    return all(
        isinstance(view(use.owner), tri.Add) for r in readers if r for use in r.results[0].uses
    )
