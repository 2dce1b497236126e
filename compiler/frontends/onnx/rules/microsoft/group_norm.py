"""Rules of ONNX Runtime for group normalisation, of images whose channels may be last."""

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.checks import need_same
from ....core.values import tensor
from ...registry import Node, Value, onnx_op
from . import DOMAIN


@onnx_op("GroupNorm", since=1, domain=DOMAIN)
def group_norm(
    x: Value,
    gamma: Value,
    beta: Value,
    *,
    activation: int,
    channels_last: int = 1,
    epsilon: float = 1e-5,
    groups: int,
) -> Value:
    """Normalise groups of channels, and apply SiLU where `activation` is 1."""
    if tensor(x).rank != 4:
        raise Invalid(f"has input {tensor(x)}, must have rank 4")
    if activation not in (0, 1):
        raise Invalid(f"has activation {activation}, must be 0 for none, or 1 for SiLU")
    if groups < 1:
        raise Invalid(f"has {groups} groups, must have at least 1")
    first = tri.Transpose.build(x, permutation=(0, 3, 1, 2)).y if channels_last else x
    y = tri.GroupNorm.build(first, gamma, beta, groups=groups, epsilon=epsilon).y
    y = tri.Silu.build(y).y if activation else y
    return tri.Transpose.build(y, permutation=(0, 2, 3, 1)).y if channels_last else y


@onnx_op("SkipGroupNorm", since=1, domain=DOMAIN)
def skip_group_norm(
    x: Value,
    gamma: Value,
    beta: Value,
    skip: Value,
    bias: Value | None = None,
    *,
    activation: int,
    channels_last: int = 1,
    epsilon: float = 1e-5,
    groups: int,
    node: Node,
) -> tuple[Value, ...]:
    """Normalise a sum, which is the second output; `skip` may be one number for each channel."""
    axis = 3 if channels_last else 1
    if tensor(x).rank != 4:
        raise Invalid(f"has input {tensor(x)}, must have rank 4")
    if tensor(skip).rank == 2:
        skip = _of_channels(skip, axis)
    total = tri.Add.build(x, skip).y
    if bias is not None:
        channels = tensor(x).shape[axis]
        fault = f"has bias {tensor(bias)}, must have {channels} elements"
        if tensor(bias).rank != 1:
            raise Invalid(fault)
        need_same(tensor(bias).size, channels, fault)
        total = tri.Add.build(total, _of_channels(bias, axis)).y
    given = {"activation": activation, "channels_last": channels_last, "groups": groups}
    y = group_norm(total, gamma, beta, epsilon=epsilon, **given)
    return (y, total) if node.wants(1) else (y,)


def _of_channels(x: Value, axis: int) -> Value:
    """Shape [channels] or [batch, channels] so that it broadcasts over an image."""
    shape = [1, 1, 1, 1]
    shape[axis] = tensor(x).shape[-1]
    shape[0] = tensor(x).shape[0] if tensor(x).rank == 2 else 1
    return tri.Reshape.build(x, shape=tuple(shape)).y
