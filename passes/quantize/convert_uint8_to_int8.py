"""Convert quantised uint8 tensors to int8, with their zero points."""

from dataclasses import replace

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.quantized import QuantizedType
from ..building import add, cast, sub
from ..constants import hint
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite

UNSIGNED, SIGNED, WIDE = "ui8", "i8", "i32"
OFFSET = 128
"""What a byte with a sign has less than one without; so has the zero point."""


class ConvertUint8ToInt8(Pass):
    """Hold quantised numbers of `ui8` in `i8`: all integers, and their zero points, are 128 less.

    Numbers stay what they are. Inputs and outputs of the function keep their types.

        %q = tri.quantize %x to u8:130; %y = tri.dequantize %q
            =>   %q = tri.quantize %x to i8:2; %y = tri.dequantize %q
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Quantize(), _Dequantize())


class _Quantize(Pattern):
    """Quantise to bytes with a sign, and let users see them without."""

    root = tri.Quantize

    def rewrite(self, op: tri.Quantize, rewriter: Rewriter) -> None:
        kind = _signed(op.to)
        with rewriter.before(op):
            held = tri.StorageCast.build(tri.Quantize.build(op.x, to=str(kind)).y, to=SIGNED).y
            seen = cast(add(cast(held, WIDE), OFFSET), UNSIGNED)
            new = tri.StorageCast.build(seen, to=op.to)
        rewriter.replace(op, new)


class _Dequantize(Pattern):
    """Dequantise bytes with a sign: those that were made so, constants, or any."""

    root = tri.Dequantize

    def rewrite(self, op: tri.Dequantize, rewriter: Rewriter) -> None:
        kind = _signed(op.of)
        held = rewriter.producer(op.x, tri.StorageCast)
        with rewriter.before(op):
            value = _quantized(held.x, rewriter)
            if value is None:
                signed = _constant(op, held.x, rewriter)
                if signed is None:
                    signed = cast(sub(cast(held.x, WIDE), OFFSET), SIGNED)
                value = tri.StorageCast.build(signed, to=str(kind)).y
            new = tri.Dequantize.build(value, of=str(kind))
        rewriter.replace(op, new, held)


def _signed(dtype: str) -> QuantizedType:
    kind = QuantizedType.parse(dtype)
    if kind.storage != UNSIGNED:
        raise NoMatch(f"numbers are held in {kind.storage}")
    return replace(
        kind,
        storage=SIGNED,
        zero_points=tuple(point - OFFSET for point in kind.zero_points),
        low=kind.low - OFFSET,
        high=kind.high - OFFSET,
    )


def _quantized(value: ir.Value, rewriter: Rewriter) -> ir.Value | None:
    """Return the quantised value of bytes with a sign that is seen without, or None."""
    found = value
    for cls in (tri.Cast, tri.Add, tri.Cast, tri.StorageCast):
        op = rewriter.find_producer(found)
        if not isinstance(op, cls):
            return None
        if isinstance(op, tri.Add) and rewriter.find_scalar(op.b) != OFFSET:
            return None
        found = op.operation.operands[0]
    return found


def _constant(op: tri.Dequantize, value: ir.Value, rewriter: Rewriter) -> ir.Value | None:
    array = rewriter.find_constant(value)
    if array is None:
        return None
    assert tensor_of(value.type).dtype == UNSIGNED
    signed = (array.astype(np.int32) - OFFSET).astype(np.int8)
    return tri.build_constant(rewriter.module, signed, f"{hint(op)}.signed").results[0]
