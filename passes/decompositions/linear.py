"""Matrix products with extras, in terms of MatMul and arithmetic."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.tensor import is_float
from ..building import add, mat_mul, mul, shape_of, transpose
from ..rewriting import NoMatch
from .registry import decomposes


@decomposes(tri.Gemm)
def gemm(op: tri.Gemm) -> ir.Value:
    whole = op.alpha.is_integer() and op.beta.is_integer()
    if not whole and not is_float(tensor_of(op.y.type).dtype):
        raise NoMatch("scales integers by a fraction")
    a = transpose(op.a, 1, 0) if op.trans_a else op.a
    b = transpose(op.b, 1, 0) if op.trans_b else op.b
    y = _times(mat_mul(a, b), op.alpha)
    return y if op.c is None else add(y, _times(op.c, op.beta))


@decomposes(tri.Linear)
def linear(op: tri.Linear) -> ir.Value:
    if len(shape_of(op.x)) == 2:
        return tri.Gemm.build(op.x, op.w, op.b, trans_b=True).y
    y = mat_mul(op.x, transpose(op.w, 1, 0))
    return y if op.b is None else add(y, op.b)


def _times(x: ir.Value, factor: float) -> ir.Value:
    return x if factor == 1 else mul(x, factor)
