"""Rules of ONNX Runtime for normalisations, with the sum of two branches before them."""

from ......dialects import tri
from ......dialects.core.errors import Unsupported
from ......dialects.core.tensor import normalize_axis
from ....core.values import tensor
from ...registry import Node, Value, onnx_op
from . import DOMAIN

FLOAT = 1


@onnx_op("SimplifiedLayerNormalization", since=1)
def simplified_layer_normalization(
    x: Value,
    scale: Value,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = FLOAT,
    node: Node,
) -> tri.RmsNorm:
    """Divide by the root of the mean of squares; ONNX Runtime has it in ONNX's own domain."""
    if stash_type != FLOAT or node.wants(1):
        raise Unsupported("keeps what it divides by, must have one output")
    axis = normalize_axis(axis, tensor(x).rank)
    return tri.RmsNorm.build(x, scale, axis=axis, epsilon=epsilon)


@onnx_op("SkipLayerNormalization", since=1, domain=DOMAIN)
def skip_layer_normalization(
    x: Value,
    skip: Value,
    gamma: Value,
    beta: Value | None = None,
    bias: Value | None = None,
    *,
    epsilon: float = 1e-12,
    node: Node,
) -> tuple[Value | None, ...]:
    """Normalise a sum over the last axis; the last output is the sum."""
    total = _sum(x, skip, bias, node)
    made = tri.LayerNorm.build(total, gamma, beta, axis=tensor(total).rank - 1, epsilon=epsilon)
    return made.y, None, None, total


@onnx_op("SkipSimplifiedLayerNormalization", since=1, domain=DOMAIN)
def skip_simplified_layer_normalization(
    x: Value,
    skip: Value,
    gamma: Value,
    bias: Value | None = None,
    *,
    epsilon: float = 1e-12,
    node: Node,
) -> tuple[Value | None, ...]:
    """Divide a sum by the root of the mean of its squares; the last output is the sum."""
    total = _sum(x, skip, bias, node)
    made = tri.RmsNorm.build(total, gamma, axis=tensor(total).rank - 1, epsilon=epsilon)
    return made.y, None, None, total


def _sum(x: Value, skip: Value, bias: Value | None, node: Node) -> Value:
    if node.wants(1) or node.wants(2):
        raise Unsupported("puts out mean or deviation, which only training needs")
    total = tri.Add.build(x, skip).y
    return total if bias is None else tri.Add.build(total, bias).y
