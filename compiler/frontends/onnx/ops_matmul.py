"""ONNX rules for matrix products."""

from ....dialects import tri
from .rules import Value, onnx_op


@onnx_op("MatMul", since=1)
def matmul(a: Value, b: Value) -> tri.MatMul:
    return tri.MatMul.build(a, b)


@onnx_op("Gemm", since=7)
def gemm(
    a: Value,
    b: Value,
    c: Value | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,  # noqa: N803
    transB: int = 0,  # noqa: N803
) -> tri.Gemm:
    return tri.Gemm.build(
        a, b, c, alpha=alpha, beta=beta, trans_a=bool(transA), trans_b=bool(transB)
    )


@onnx_op("Einsum", since=12)
def einsum(*xs: Value, equation: str) -> tri.Einsum:
    return tri.Einsum.build(xs, equation=equation)
