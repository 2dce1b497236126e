"""Rules for products of matrices, and of groups of rows."""

from collections.abc import Callable
from typing import Any

from .....dialects import tri
from .....dialects.core.errors import Invalid, Unsupported
from ...core.values import cast, tensor
from ..complex_expressions import joined, split
from ..element_types import torch_type
from ..expressions import apply
from ..promotion import as_type
from ..registry import Complex, Value, torch_op
from ..views import as_complex, reshape


@torch_op("nn.Linear", "F.linear")
def linear(input: Value, weight: Value, bias: Value | None = None) -> Value:
    """Compute `input @ weightᵀ + bias`; a weight of one axis is one row, whose axis is dropped."""
    if tensor(weight).rank == 2:
        return tri.Linear.build(input, weight, bias).y
    y = tri.MatMul.build(input, weight).y
    return y if bias is None else tri.Add.build(y, bias).y


@torch_op("torch.matmul")
def matmul(input: Value | Complex, other: Value | Complex) -> Value | Complex:
    return _bilinear(_product, input, other)


def _product(a: Value, b: Value) -> Value:
    return tri.MatMul.build(a, b).y


def _bilinear(
    product: Callable[[Value, Value], Value], a: Value | Complex, b: Value | Complex
) -> Value | Complex:
    """Compute a product; one of complex tensors is made of four products of their parts."""
    if not isinstance(a, Complex) and not isinstance(b, Complex):
        return product(a, b)
    (real, imaginary), (real_b, imaginary_b) = split(as_complex(a)), split(as_complex(b))
    straight = product(real, real_b), product(imaginary, imaginary_b)
    crossed = product(real, imaginary_b), product(imaginary, real_b)
    return joined(apply("sub(@0,@1)", *straight), apply("add(@0,@1)", *crossed))


@torch_op("torch.mm", "torch.bmm")
def mm(input: Value | Complex, mat2: Value | Complex) -> Value | Complex:
    return _bilinear(_product, input, mat2)


@torch_op("torch.mv")
def mv(input: Value, vec: Value) -> tri.MatMul:
    return tri.MatMul.build(input, vec)


@torch_op("torch.addmm")
def addmm(
    input: Value, mat1: Value, mat2: Value, *, alpha: float = 1.0, beta: float = 1.0
) -> tri.Gemm:
    for name, value in (("mat1", mat1), ("mat2", mat2)):
        if tensor(value).rank != 2:
            raise Invalid(f"has {name} {tensor(value)}, must be a matrix")
    return tri.Gemm.build(mat1, mat2, input, alpha=alpha, beta=beta)


@torch_op("torch.baddbmm")
def baddbmm(
    input: Value, batch1: Value, batch2: Value, *, alpha: float = 1.0, beta: float = 1.0
) -> Value:
    product = _scaled(tri.MatMul.build(batch1, batch2).y, alpha)
    return product if beta == 0 else tri.Add.build(product, _scaled(input, beta)).y


@torch_op("aten::addbmm")
def addbmm(
    input: Value, batch1: Value, batch2: Value, *, alpha: float = 1.0, beta: float = 1.0
) -> Value:
    """Add up the products of a batch."""
    total = tri.ReduceSum.build(tri.MatMul.build(batch1, batch2).y, axes=(0,), keepdims=False).y
    product = _scaled(total, alpha)
    return product if beta == 0 else tri.Add.build(product, _scaled(input, beta)).y


@torch_op("aten::_grouped_mm")
def grouped_mm(
    input: Value,
    mat2: Value,
    offs: Value | None = None,
    bias: Value | None = None,
    out_dtype: str | None = None,
) -> Value:
    """Multiply groups of rows by a matrix each; `offs` has the end of each group.

    Rows behind the last group are not defined in torch, and 0 here. Groups of columns or of the
    depth are refused.
    """
    of_rows, of_matrices = tensor(input), tensor(mat2)
    if offs is None:
        y = tri.MatMul.build(input, mat2).y
    elif of_rows.rank == 2 and of_matrices.rank == 3:
        row = reshape(tri.Iota.build(size=of_rows.shape[0]).y, (of_rows.shape[0], 1))
        end = reshape(cast(offs, "i64"), (1, tensor(offs).size))
        ended = tri.LessEqual.build(end, row).y
        group = tri.ReduceSum.build(cast(ended, "i32"), axes=(1,), keepdims=False).y
        y = tri.IndexedMatMul.build(input, mat2, group).y
    else:
        raise Unsupported(f"has groups of {of_rows} and {of_matrices}, must be of rows [M, K]")
    y = y if out_dtype is None else cast(y, torch_type(out_dtype))
    return y if bias is None else tri.Add.build(y, bias).y


@torch_op("transformers::grouped_mm_fallback")
def grouped_mm_fallback(input: Value, weight: Value, offs: Value) -> Value:
    """Multiply groups of rows by a matrix each, as transformers exports mixtures of experts."""
    return grouped_mm(input, weight, offs)


def _scaled(x: Value, factor: float) -> Value:
    return x if factor == 1 else tri.Mul.build(x, as_type(factor, tensor(x).dtype)).y


@torch_op("torch.einsum")
def einsum(*operands: Value | Complex, equation: str) -> Any:
    def product(*values: Value) -> Value:
        return tri.Einsum.build(values, equation=equation).y

    if len(operands) == 2:
        return _bilinear(product, *operands)
    if any(isinstance(x, Complex) for x in operands):
        raise Unsupported(f"multiplies {len(operands)} complex tensors, must be 2 at a time")
    return tri.Einsum.build(operands, equation=equation)
