"""ONNX rules for normalisation."""

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.tensor import normalize_axis
from ...core.values import constant, tensor
from ..registry import Node, UseFunctionBody, Value, onnx_op

FLOAT = 1
"""ONNX's code of f32: the precision that normalisation asks for by default."""


@onnx_op("LayerNormalization", since=17)
def layer_normalization(
    x: Value,
    scale: Value,
    bias: Value | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = FLOAT,
    node: Node,
) -> tri.LayerNorm:
    if stash_type != FLOAT or node.wants(1) or node.wants(2):
        raise UseFunctionBody
    axis = normalize_axis(axis, tensor(x).rank)
    return tri.LayerNorm.build(x, scale, bias, axis=axis, epsilon=epsilon)


@onnx_op("RMSNormalization", since=23)
def rms_normalization(
    x: Value, scale: Value, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = FLOAT
) -> tri.RmsNorm:
    if stash_type != FLOAT or tensor(x).dtype != tensor(scale).dtype:
        raise UseFunctionBody
    return tri.RmsNorm.build(x, scale, axis=normalize_axis(axis, tensor(x).rank), epsilon=epsilon)


@onnx_op("GroupNormalization", since=18)
def group_normalization_by_group(
    x: Value, scale: Value, bias: Value, *, num_groups: int, epsilon: float = 1e-5
) -> tri.GroupNorm:
    """Translate the first version, whose scale and bias have one element for each group."""
    channels = tensor(x).shape[1] if tensor(x).rank > 1 else 0
    if num_groups < 1 or channels % num_groups:
        raise Invalid(f"has {channels} channels, must split in {num_groups} groups")
    of_channel = constant(np.arange(channels) * num_groups // max(channels, 1))
    scale, bias = (tri.Gather.build(v, of_channel).y for v in (scale, bias))
    return tri.GroupNorm.build(x, scale, bias, groups=num_groups, epsilon=epsilon)


@onnx_op("GroupNormalization", since=21)
def group_normalization(
    x: Value,
    scale: Value,
    bias: Value,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
    stash_type: int = FLOAT,
) -> tri.GroupNorm:
    if stash_type != FLOAT:
        raise UseFunctionBody
    return tri.GroupNorm.build(x, scale, bias, groups=num_groups, epsilon=epsilon)


@onnx_op("InstanceNormalization", since=6)
def instance_normalization(
    x: Value, scale: Value, bias: Value, *, epsilon: float = 1e-5
) -> tri.InstanceNorm:
    return tri.InstanceNorm.build(x, scale, bias, epsilon=epsilon)


@onnx_op("LpNormalization", since=1)
def lp_normalization(x: Value, *, axis: int = -1, p: int = 2) -> tri.LpNormalize:
    return tri.LpNormalize.build(x, axis=normalize_axis(axis, tensor(x).rank), p=p)


@onnx_op("LRN", since=1)
def lrn(
    x: Value, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> tri.Lrn:
    return tri.Lrn.build(x, size=size, alpha=alpha, beta=beta, bias=bias)
