"""Products of scaled floats of 8 bits, as scaled products."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.tile.types import FLOAT8
from ...passes.building import cast, mul
from ...passes.core import Pass
from ...passes.rewriting import NoMatch, Pattern, Rewriter, rewrite

SUMS = "f32"
"""The type that products are summed and scaled in."""


class MultiplyFloat8(Pass):
    """Multiply floats of 8 bits first, then scale, where they were scaled first.

    Matrix units multiply floats of 8 bits. Both factors are of one type of these, and no scale
    varies along the depth: there is one for all elements, or one for each row of the left factor or
    column of the right one. Sums are of f32. Results differ only by rounding.

        tri.mat_mul (tri.mul (tri.cast %x : f8E4M3FN), %s), (tri.mul (tri.cast %w : f8E4M3FN), %t)
            =>   tri.mul (tri.mul (tri.mat_mul (tri.cast %x), (tri.cast %w)), %s), %t
    """

    def run(self, module: Module) -> None:
        rewrite(module, _MatMul())


class _MatMul(Pattern):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        if min(tensor_of(op.a.type).rank, tensor_of(op.b.type).rank) < 2:
            raise NoMatch("is a product with a vector")
        x, left = _scaled(op.a, -1, rewriter)
        w, right = _scaled(op.b, -2, rewriter)
        scales = [scale for scale in (left, right) if scale is not None]
        kinds = [tensor_of(value.type).dtype for value in (x, w)]
        if not scales or kinds[0] != kinds[1]:
            raise NoMatch(f"multiplies {kinds[0]} by {kinds[1]}, must be one type, and scaled")
        dtype = tensor_of(op.y.type).dtype
        with rewriter.before(op):
            product = tri.MatMul.build(cast(x, SUMS), cast(w, SUMS)).y
            for scale in scales:
                product = mul(product, cast(scale, SUMS))
            rewriter.replace(op, [cast(product, dtype)])


def _scaled(value: ir.Value, depth: int, rewriter: Rewriter) -> tuple[ir.Value, ir.Value | None]:
    """Find the floats of 8 bits that a factor widens, and their scale if there is one.

    Raises NoMatch for what is made otherwise, and for a scale that varies along axis `depth`.
    """
    product = rewriter.find_producer(value)
    if not isinstance(product, tri.Mul):
        return _widened(value, rewriter), None
    made = rewriter.find_producer(product.a)
    wide, scale = (product.a, product.b) if _is_cast(made) else (product.b, product.a)
    x = _widened(wide, rewriter)
    shape = tensor_of(scale.type).shape
    if tensor_of(x.type).shape != tensor_of(value.type).shape:
        raise NoMatch("the scale broadcasts the tensor")
    if len(shape) >= -depth and shape[depth] != 1:
        raise NoMatch(f"scales of shape {shape} vary along the depth")
    return x, scale


def _is_cast(made: object) -> bool:
    return isinstance(made, tri.Cast) and tensor_of(made.x.type).dtype in FLOAT8


def _widened(value: ir.Value, rewriter: Rewriter) -> ir.Value:
    """Return the floats of 8 bits that a cast widens to f32 or to a type of 16 bits."""
    x = rewriter.producer(value, tri.Cast).x
    source, dtype = tensor_of(x.type).dtype, tensor_of(value.type).dtype
    if source not in FLOAT8 or dtype not in (SUMS, "f16", "bf16"):
        raise NoMatch(f"casts {source} to {dtype}, must widen floats of 8 bits to f32 or less")
    return x
