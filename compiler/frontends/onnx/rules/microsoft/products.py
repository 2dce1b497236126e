"""Rules of ONNX Runtime for distances, inverses, and products of other types."""

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ....core.values import cast, tensor
from ...registry import Value, onnx_op
from . import DOMAIN


@onnx_op("CDist", since=1, domain=DOMAIN)
def cdist(a: Value, b: Value, *, metric: str = "sqeuclidean") -> Value:
    """Return the distance of each row of a from each row of b, [rows of a, rows of b]."""
    if metric not in ("euclidean", "sqeuclidean"):
        raise Unsupported(f"has metric '{metric}', must be euclidean or sqeuclidean")
    left, right = tensor(a), tensor(b)
    if left.rank != 2 or right.rank != 2:
        raise Invalid(f"has inputs {left} and {right}, must be matrices")
    rows = tri.Reshape.build(a, shape=(left.shape[0], 1, left.shape[1])).y
    apart = tri.Sub.build(rows, b).y
    squares = tri.ReduceSum.build(tri.Mul.build(apart, apart).y, axes=(2,), keepdims=False).y
    return squares if metric == "sqeuclidean" else tri.Sqrt.build(squares).y


@onnx_op("MatMulInteger16", since=1, domain=DOMAIN)
def matmul_integer16(a: Value, b: Value) -> Value:
    """Multiply matrices of i16 or ui16 in i32."""
    return tri.MatMul.build(cast(a, "i32"), cast(b, "i32")).y


@onnx_op("Inverse", since=1, domain=DOMAIN)
def inverse(x: Value) -> tri.Inverse:
    return tri.Inverse.build(x)
