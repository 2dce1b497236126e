"""PNNX rules for matrix products."""

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ..core.values import tensor
from .movement import swap
from .promotion import Operand, as_type
from .rules import Value, pnnx_op


@pnnx_op("nn.Linear", "F.linear")
def linear(input: Value, weight: Value, bias: Value | None = None) -> Value:
    """Compute `input @ weightᵀ + bias`."""
    if tensor(input).rank == 2 and tensor(weight).rank == 2:
        return tri.Gemm.build(input, weight, bias, trans_b=True).y
    rank = tensor(weight).rank
    y = tri.MatMul.build(input, swap(weight, 0, 1) if rank > 1 else weight).y
    return y if bias is None else tri.Add.build(y, bias).y


@pnnx_op("torch.matmul", "torch.mm", "torch.bmm", "torch.mv", "torch.dot", "torch.inner")
def matmul(a: Value, b: Value) -> tri.MatMul:
    return tri.MatMul.build(a, b)
