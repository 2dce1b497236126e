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
        operands = (*_of_rounded(op), op.zero_points and _plain(op.zero_points))
        y = tri.BlockQuantizedMatMul.build(*operands, bits=op.bits, block=op.block).y
    else:
        y = mat_mul(cast(op.a, "f32"), transpose(_matrices(op), 1, 0))
    return cast(y, tensor_of(op.y.type).dtype)


@decomposes(tri.IndexedBlockMatMul)
def indexed_block_mat_mul(op: tri.IndexedBlockMatMul) -> ir.Value:
    if op.activations:
        operands = (*_of_rounded(op), op.index, op.zero_points and _plain(op.zero_points))
        y = tri.IndexedBlockMatMul.build(*operands, bits=op.bits, block=op.block).y
    else:
        turned = transpose(_matrices(op), 0, 2, 1)
        y = tri.IndexedMatMul.build(cast(op.a, "f32"), turned, op.index).y
    return cast(y, tensor_of(op.y.type).dtype)


Product = tri.BlockQuantizedMatMul | tri.IndexedBlockMatMul


def _matrices(op: Product) -> ir.Value:
    """Build the matrices of few bits in f32: […, rows, depth]."""
    *outer, blocks, _ = shape_of(op.w)
    depth = shape_of(op.a)[-1]
    apart = (*outer, blocks, 1)
    numbers = cast(tri.build_unpacked(op.w, op.bits), "f32")
    zero: Operand = 1 << op.bits - 1
    if op.zero_points is not None:
        zero = reshape(cast(op.zero_points, "f32"), *apart)
    scaled = mul(sub(numbers, zero), reshape(cast(op.scales, "f32"), *apart))
    matrix = reshape(scaled, *outer, blocks * op.block)
    if blocks * op.block == depth:
        return matrix
    starts, sizes = (0,) * (len(outer) + 1), (*outer, depth)
    return tri.Slice.build(matrix, starts=starts, sizes=sizes, steps=(1,) * len(sizes)).y


def _of_rounded(op: Product) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Build activations that are rounded before the product, and its weights and scales."""
    return _rounded(cast(op.a, "f32"), op.block), op.w, cast(op.scales, "f32")


def _plain(zeros: ir.Value) -> ir.Value:
    """Return zero points as a product in f32 takes them."""
    return zeros if tensor_of(zeros.type).dtype == "ui8" else cast(zeros, "f32")


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
