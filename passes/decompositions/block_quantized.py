"""Products with matrices of few bits, as arithmetic on their bytes."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ..building import Operand, cast, mat_mul, mul, reshape, shape_of, sub, transpose
from .registry import decomposes


@decomposes(tri.BlockQuantizedMatMul)
def block_quantized_mat_mul(op: tri.BlockQuantizedMatMul) -> ir.Value:
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
