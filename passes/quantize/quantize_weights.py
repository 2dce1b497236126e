"""Quantise weights alone: constant matrices of products, and kernels of convolutions."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import CompileError, Invalid
from ...dialects.core.module import Module, ops
from ...dialects.core.quantized import QuantizedType
from ...dialects.core.tensor import Array, numpy_dtype
from ...dialects.tri.linear_algebra.block_quantized import FLOATS, check_blocks
from ..constants import hint
from ..core import Pass
from ..rewriting import Rewriter
from .block_rounding import BlockForm, RoundedMatrix, round_to_nearest
from .quantize import rounded_constant, weight_scales

LEAST = 1 << 12
"""Weights of fewer elements stay as they are: there is little to gain."""


KERNEL_BITS = 8
"""How many bits the integers of kernels of convolutions have."""


class QuantizeWeights(Pass):
    """Round constant matrices of products to integers of few bits, each element by itself.

    Of `bits` bits, with a scale for each `block` elements in depth and, unless `symmetric`, a zero
    point. Where these are 8, kernels of convolutions become integers, too, with a scale for each
    output channel. Weights of fewer than `least` elements are left.

        %y = tri.mat_mul %x, %w
            =>   %y = tri.block_quantized_mat_mul %x, %packed, %scales, %zero_points
        %y = tri.conv %x, %w
            =>   %y = tri.conv %x, (tri.dequantize (tri.storage_cast %rounded to …))
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
        if self.bits == KERNEL_BITS:
            round_kernels(module, weight_convolutions(module, self.least))


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


@dataclass(frozen=True)
class WeightConvolution:
    """Hold a convolution with a constant kernel, [output channels, ...]."""

    op: tri.Conv
    kernel: Callable[[], Array]


def weight_convolutions(module: Module, least: int = LEAST) -> list[WeightConvolution]:
    """List the convolutions in f32 whose kernels are quantised, in order."""
    constants = Rewriter(module).constants
    found: list[WeightConvolution] = []
    for op in ops(module.operation):
        if not isinstance(op, tri.Conv) or tensor_of(op.w.type).dtype != "f32":
            continue
        if tensor_of(op.w.type).size >= least and constants.is_constant(op.w):
            found.append(WeightConvolution(op, lambda op=op: _known(constants(op.w))))
    return found


def _known(array: Array | None) -> Array:
    assert array is not None
    return array


def round_kernels(module: Module, convolutions: Sequence[WeightConvolution]) -> list[Array]:
    """Round kernels to i8, with a scale for each output channel; return what they stand for."""
    rewriter, made = Rewriter(module), list[Array]()
    with module.operation.context:
        for each in convolutions:
            kernel = each.kernel()
            scales = weight_scales(kernel, 0).astype(np.float32)
            kind = QuantizedType.of("i8", scales.tolist(), axis=0)
            rounded = rounded_constant(each.op, kernel, kind, "weights", rewriter)
            each.op.operation.operands[1] = rounded
            made.append(_known(rewriter.constants(rounded)))
    return made
