"""Products of bytes that were widened and shifted, as products of signed bytes."""

from typing import Any

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import Array
from ...passes.constants import hint
from ...passes.core import Pass
from ...passes.rewriting import NoMatch, Pattern, Rewriter, rewrite

BYTE = np.iinfo(np.int8)

UNSIGNED_OFFSET = 128
"""The difference between an unsigned byte and its signed form."""


class MultiplyBytes(Pass):
    """Multiply signed bytes where zero points were subtracted before, in i32, by constant weights.

    Matrix units multiply bytes. Zero points are subtracted after the product: the sum of
    (x - z) * w is the sum of x * w, less z times the sum of w; images are padded with z. Results
    are the same.

        tri.mat_mul (tri.sub (tri.cast %x : i8), %z), %w
            =>   tri.sub (tri.mat_mul (tri.cast %x), (tri.cast %w : i8)), %sums
        tri.conv (tri.sub (tri.cast %x : i8), %z), %w {pads}
            =>   tri.sub (tri.conv (tri.cast (tri.pad %x, %z)), (tri.cast %w : i8)), %sums
    """

    def run(self, module: Module) -> None:
        rewrite(module, _MatMul(), _Conv())


class _MatMul(Pattern):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        x, zero = _bytes_of(op.a, rewriter)
        w = _weights(op.b, rewriter)
        if w.ndim > 2:
            raise NoMatch(f"has weights of {w.ndim} axes, must be a matrix or a vector")
        sums = zero * w.sum(0, dtype=np.int64)
        with rewriter.before(op):
            wide = _wide(_signed(x))
            product = tri.MatMul.build(wide, _wide(_constant(op, w, np.int8, rewriter)))
            made = _less(op, product, sums, rewriter)
        rewriter.replace(op, made)


class _Conv(Pattern):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        if op.is_depthwise and op.group > 1:
            raise NoMatch("is depthwise: its few products are no product of matrices")
        x, zero = _bytes_of(op.x, rewriter)
        w = _weights(op.w, rewriter)
        if not BYTE.min <= zero <= BYTE.max:
            raise NoMatch(f"pads with the zero point {zero}, which is no byte")
        rank = len(op.strides)
        sums = zero * w.sum(tuple(range(1, w.ndim)), dtype=np.int64).reshape(-1, *(1,) * rank)
        with rewriter.before(op):
            seen, pads = _signed(x), op.pads
            if zero and any(pads):
                around = (0, 0, *pads[:rank], 0, 0, *pads[rank:])
                seen = tri.Pad.build(seen, pads=around, mode="constant", value=float(zero)).y
                pads = (0,) * len(pads)
            product = tri.Conv.build(
                _wide(seen),
                _wide(_constant(op, w, np.int8, rewriter)),
                op.b,
                strides=op.strides,
                pads=pads,
                dilations=op.dilations,
                group=op.group,
            )
            made = _less(op, product, sums, rewriter)
        rewriter.replace(op, made)


def _bytes_of(value: ir.Value, rewriter: Rewriter) -> tuple[ir.Value, int]:
    """Find the bytes that an operand widens, and their zero point as signed bytes.

    Raises NoMatch when it is made otherwise, or is a plain cast of signed bytes already.
    """
    if tensor_of(value.type).dtype != "i32":
        raise NoMatch(f"has element type {tensor_of(value.type).dtype}, must be i32")
    shift = rewriter.find_producer(value)
    wide = shift.a if isinstance(shift, tri.Sub) else value
    x = rewriter.producer(wide, tri.Cast).x
    zero = 0
    if isinstance(shift, tri.Sub):
        if tensor_of(x.type).shape != tensor_of(value.type).shape:
            raise NoMatch("the zero point broadcasts the tensor")
        zero = int(rewriter.scalar(shift.b))
    dtype = tensor_of(x.type).dtype
    if dtype not in ("i8", "ui8"):
        raise NoMatch(f"widens {dtype}, must be bytes")
    return x, zero - (UNSIGNED_OFFSET if dtype == "ui8" else 0)


def _weights(value: ir.Value, rewriter: Rewriter) -> Array:
    """Return weights of i32 that fit in signed bytes."""
    if isinstance(rewriter.find_producer(value), tri.Cast):
        raise NoMatch("weights are bytes already")
    w = rewriter.constant(value)
    if w.size and (w.min() < BYTE.min or w.max() > BYTE.max):
        raise NoMatch(f"weights are from {w.min()} to {w.max()}, must be signed bytes")
    return w


def _signed(x: ir.Value) -> ir.Value:
    """Make signed bytes of unsigned ones, each less 128."""
    if tensor_of(x.type).dtype == "i8":
        return x
    offset = tri.Constant.build(value=np.full((), UNSIGNED_OFFSET, np.int32)).y
    return tri.Cast.build(tri.Sub.build(_wide(x), offset).y, to="i8").y


def _wide(x: ir.Value) -> ir.Value:
    return tri.Cast.build(x, to="i32").y


def _less(op: Op, product: tri.MatMul | tri.Conv, sums: Array, rewriter: Rewriter) -> Op:
    """Subtract the contribution of zero points from each output."""
    if not sums.any():
        return product
    return tri.Sub.build(product.y, _constant(op, sums, np.int32, rewriter))


def _constant(op: Op, array: Array, dtype: type[np.integer[Any]], rewriter: Rewriter) -> ir.Value:
    """Build a constant that is named after the result of an op; numbers wrap around."""
    what = "bytes" if dtype is np.int8 else "sums"
    name = f"{hint(op)}.{what}"
    return tri.build_constant(rewriter.module, array.astype(dtype), name).results[0]
