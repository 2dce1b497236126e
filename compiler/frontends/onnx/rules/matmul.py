"""ONNX rules for matrix products."""

from .....dialects import tri
from .....dialects.core.errors import Invalid
from ...core.values import tensor
from ..registry import Value, onnx_op


@onnx_op("MatMul", since=1)
def matmul(a: Value, b: Value) -> tri.MatMul:
    return tri.MatMul.build(a, b)


@onnx_op("Gemm", since=6)
def gemm_with_broadcast(
    a: Value,
    b: Value,
    c: Value,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    broadcast: int = 0,
    transA: int = 0,
    transB: int = 0,
) -> tri.Gemm:
    made = gemm(a, b, c, alpha=alpha, beta=beta, transA=transA, transB=transB)
    if not broadcast and tensor(c) != tensor(made.y):
        raise Invalid(f"has c {tensor(c)} without 'broadcast', must be {tensor(made.y)}")
    return made


@onnx_op("Gemm", since=7)
def gemm(
    a: Value,
    b: Value,
    c: Value | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> tri.Gemm:
    return tri.Gemm.build(
        a, b, c, alpha=alpha, beta=beta, trans_a=bool(transA), trans_b=bool(transB)
    )


@onnx_op("Einsum", since=12)
def einsum(*xs: Value, equation: str) -> tri.Einsum:
    return tri.Einsum.build(xs, equation=equation)
