"""ONNX rules for batch normalisation, by given statistics and by those of the batch itself."""

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Unsupported
from .....dialects.core.tensor import numpy_dtype
from ...core.values import cast, constant, tensor
from ..registry import Node, Value, onnx_op

Results = tuple[Value, ...]


@onnx_op("BatchNormalization", since=6)
def batch_normalization_of_test(
    x: Value,
    scale: Value,
    bias: Value,
    mean: Value,
    var: Value,
    *,
    epsilon: float = 1e-5,
    is_test: int = 0,
    momentum: float = 0.9,
    spatial: int = 1,
    node: Node,
) -> Value:
    if not is_test:
        raise Unsupported("trains, must have 'is_test'")
    return batch_normalization_of_inference(
        x, scale, bias, mean, var, epsilon=epsilon, spatial=spatial, node=node
    )


@onnx_op("BatchNormalization", since=7)
def batch_normalization_of_inference(
    x: Value,
    scale: Value,
    bias: Value,
    mean: Value,
    var: Value,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
    node: Node,
) -> Value:
    if any(map(node.wants, range(1, len(node.outputs)))):
        raise Unsupported("trains, must have one output")
    if not spatial:
        raise Unsupported("has spatial 0, must have statistics of whole channels")
    return _normalized(x, scale, bias, mean, var, epsilon)


@onnx_op("BatchNormalization", since=14)
def batch_normalization(
    x: Value,
    scale: Value,
    bias: Value,
    mean: Value,
    var: Value,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> Results:
    if not training_mode:
        return (_normalized(x, scale, bias, mean, var, epsilon),)
    batch_mean, batch_var = _statistics(cast(x, tensor(mean).dtype))
    return (
        _normalized(x, scale, bias, batch_mean, batch_var, epsilon),
        _mixed(mean, batch_mean, momentum),
        _mixed(var, batch_var, momentum),
    )


def _normalized(
    x: Value, scale: Value, bias: Value, mean: Value, var: Value, epsilon: float
) -> Value:
    operands = (x, scale, bias, mean, var)
    if len({tensor(v).dtype for v in operands}) == 1:
        return tri.BatchNorm.build(*operands, epsilon=epsilon).y
    # Statistics are kept in a wider type than the input: compute in f32, as they do.
    wide = (cast(v, "f32") for v in operands)
    return cast(tri.BatchNorm.build(*wide, epsilon=epsilon).y, tensor(x).dtype)


def _statistics(x: Value) -> tuple[Value, Value]:
    """Compute the mean and the variance of each channel."""
    rank = tensor(x).rank
    axes = (0, *range(2, rank))
    mean = tri.ReduceMean.build(x, axes=axes, keepdims=True).y
    apart = tri.Sub.build(x, mean).y
    var = tri.ReduceMean.build(tri.Mul.build(apart, apart).y, axes=axes, keepdims=False).y
    return tri.Reshape.build(mean, shape=tensor(var).shape).y, var


def _mixed(old: Value, new: Value, momentum: float) -> Value:
    """Return `old * momentum + new * (1 - momentum)`."""
    dtype = numpy_dtype(tensor(old).dtype)
    keep, take = (constant(np.array(part, dtype)) for part in (momentum, 1 - momentum))
    return tri.Add.build(tri.Mul.build(old, keep).y, tri.Mul.build(new, take).y).y
