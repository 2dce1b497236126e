"""Products with matrices of few bits, as arithmetic on their bytes."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.sizes.dim import ceildiv
from ...dialects.tri.quantize import LARGEST_BYTE
from ..building import (
    Operand,
    absolute,
    cast,
    div,
    equal,
    mat_mul,
    maximum,
    minimum,
    mul,
    reduce_max,
    reshape,
    shape_of,
    sub,
    transpose,
    where,
)
from .registry import decomposes


@decomposes(tri.BlockQuantizedMatMul)
def block_quantized_mat_mul(op: tri.BlockQuantizedMatMul) -> ir.Value:
    if op.activations:
        return _of_rounded(op)
    rows, blocks, _ = shape_of(op.w)
    depth = shape_of(op.a)[-1]
    apart = (rows, blocks, 1)
    numbers = cast(tri.build_unpacked(op.w, op.bits), "f32")
    zero: Operand = 1 << op.bits - 1
    if op.zero_points is not None:
        zero = reshape(cast(op.zero_points, "f32"), *apart)
    scaled = mul(sub(numbers, zero), reshape(cast(op.scales, "f32"), *apart))
    matrix = reshape(scaled, rows, blocks * op.block)
    if blocks * op.block != depth:
        matrix = tri.Slice.build(matrix, starts=(0, 0), sizes=(rows, depth), steps=(1, 1)).y
    y = mat_mul(cast(op.a, "f32"), transpose(matrix, 1, 0))
    return cast(y, tensor_of(op.y.type).dtype)


def _of_rounded(op: tri.BlockQuantizedMatMul) -> ir.Value:
    """Build the product of activations that are rounded before it."""
    zeros = op.zero_points
    if zeros is not None and tensor_of(zeros.type).dtype != "ui8":
        zeros = cast(zeros, "f32")
    operands = (_rounded(cast(op.a, "f32"), op.block), op.w, cast(op.scales, "f32"), zeros)
    y = tri.BlockQuantizedMatMul.build(*operands, bits=op.bits, block=op.block).y
    return cast(y, tensor_of(op.y.type).dtype)


def _rounded(a: ir.Value, block: int) -> ir.Value:
    """Build blocks of the last axis as `round_blocks` rounds them, in floats again."""
    *rows, depth = shape_of(a)
    blocks = ceildiv(depth, block)
    full, rank = blocks * block, len(rows) + 1
    if full != depth:
        a = tri.Pad.build(a, pads=(0,) * (2 * rank - 1) + (full - depth,)).y
    apart = reshape(a, *rows, blocks, block)
    largest = reduce_max(absolute(apart), (rank,))
    factor = where(equal(largest, 0), 0, div(LARGEST_BYTE, largest))
    whole = tri.Round.build(mul(apart, factor)).y
    kept = minimum(maximum(whole, -LARGEST_BYTE), LARGEST_BYTE)
    joined = reshape(mul(kept, div(largest, LARGEST_BYTE)), *rows, full)
    if full == depth:
        return joined
    sizes, ones = (*rows, depth), (1,) * rank
    return tri.Slice.build(joined, starts=(0,) * rank, sizes=sizes, steps=ones).y
