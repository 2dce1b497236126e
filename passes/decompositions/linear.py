"""Matrix products with extras or indices, in terms of MatMul, Gather and arithmetic."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.tensor import is_float
from ..building import (
    add,
    equal,
    mat_mul,
    maximum,
    minimum,
    mul,
    reshape,
    shape_of,
    transpose,
    where,
)
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


@decomposes(tri.IndexedMatMul)
def indexed_mat_mul(op: tri.IndexedMatMul) -> ir.Value:
    """Build a batch of products with a copy of the matrix of each row."""
    rows, depth = shape_of(op.a)
    groups, _, columns = shape_of(op.w)
    if groups == 0:
        raise NoMatch("has no matrices")
    place = minimum(maximum(op.index, 0), groups - 1)
    chosen = tri.Gather.build(op.w, place, axis=0).y
    y = reshape(mat_mul(reshape(op.a, rows, 1, depth), chosen), rows, columns)
    return where(reshape(equal(place, op.index), rows, 1), y, 0)


def _times(x: ir.Value, factor: float) -> ir.Value:
    return x if factor == 1 else mul(x, factor)
