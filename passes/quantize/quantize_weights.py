"""Quantise weights alone: constant matrices of products become integers of few bits."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import CompileError, Invalid
from ...dialects.core.module import Module, ops
from ...dialects.core.tensor import Array, numpy_dtype
from ...dialects.tri.linear_algebra.block_quantized import FLOATS, check_blocks
from ..constants import hint
from ..core import Pass
from ..rewriting import Rewriter
from .block_rounding import BlockForm, RoundedMatrix, round_to_nearest

LEAST = 1 << 12
"""Matrices of fewer elements stay as they are: there is little to gain."""


class QuantizeWeights(Pass):
    """Round constant matrices of products to integers of few bits, each element by itself.

    Of `bits` bits, with a scale for each `block` elements in depth and, unless `symmetric`, a zero
    point. Matrices of fewer than `least` elements are left.

        %y = tri.mat_mul %x, %w
            =>   %y = tri.block_quantized_mat_mul %x, %packed, %scales, %zero_points
    """

    bits: int = 4
    block: int = 32
    symmetric: bool = False
    least: int = LEAST

    def run(self, module: Module) -> None:
        form = BlockForm(self.bits, self.block, self.symmetric)
        products = weight_products(module, self.least)
        rounded = (round_to_nearest(each.matrix(), form, each.dtype) for each in products)
        replace_products(module, products, rounded, form)


@dataclass(frozen=True)
class WeightProduct:
    """Hold a product with a constant matrix, which `matrix` returns as [columns, depth]."""

    op: tri.MatMul | tri.Gemm
    matrix: Callable[[], Array]

    @property
    def depth(self) -> int:
        return int(tensor_of(self.op.a.type).shape[-1])

    @property
    def dtype(self) -> Any:
        return numpy_dtype(tensor_of(self.op.a.type).dtype)


def weight_products(module: Module, least: int = LEAST) -> list[WeightProduct]:
    """List the products whose matrices are quantised, in order."""
    constants = Rewriter(module).constants
    found: list[WeightProduct] = []
    for op in ops(module.operation):
        if not isinstance(op, tri.MatMul | tri.Gemm) or not _is_plain(op):
            continue
        b = tensor_of(op.b.type)
        if b.rank == 2 and b.is_static and b.size >= least and constants.is_constant(op.b):
            found.append(WeightProduct(op, lambda op=op: _matrix(op, constants(op.b))))
    return found


def _is_plain(op: tri.MatMul | tri.Gemm) -> bool:
    """Return whether an op multiplies floats by a matrix, and adds a bias at most."""
    if tensor_of(op.a.type).dtype not in FLOATS or not tensor_of(op.a.type).rank:
        return False
    return isinstance(op, tri.MatMul) or (not op.trans_a and op.alpha == op.beta == 1)


def _matrix(op: tri.MatMul | tri.Gemm, b: Array | None) -> Array:
    assert b is not None
    return b if isinstance(op, tri.Gemm) and op.trans_b else b.T


def replace_products(
    module: Module,
    products: Sequence[WeightProduct],
    rounded: Iterable[RoundedMatrix],
    form: BlockForm,
) -> None:
    """Replace products by those with rounded matrices; raise CompileError for a wrong form."""
    try:
        check_blocks(form.bits, form.block)
    except Invalid as error:
        raise CompileError(f"weights cannot be quantised: a form {error}") from None
    rewriter = Rewriter(module)
    with module.operation.context:
        for product, matrix in zip(products, rounded, strict=True):
            _replace(product, matrix, form, rewriter)


def _replace(
    product: WeightProduct, matrix: RoundedMatrix, form: BlockForm, rewriter: Rewriter
) -> None:
    op, arrays = product.op, matrix.operands(form, product.dtype)
    names = ("weight", "scale", "zero_point")
    with rewriter.before(op):
        values = [
            tri.build_constant(rewriter.module, array, f"{hint(op)}.{name}").results[0]
            for array, name in zip(arrays, names, strict=False)
        ]
        made = tri.BlockQuantizedMatMul.build(op.a, *values, bits=form.bits, block=form.block)
        if isinstance(op, tri.Gemm) and op.c is not None:
            rewriter.replace(op, tri.Add.build(made.y, op.c))
        else:
            rewriter.replace(op, made)
