"""Rules for normalisation."""

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid, Unsupported
from .....dialects.core.sizes.checks import need, need_same_shape
from .....dialects.core.tensor import numpy_dtype
from .....dialects.tri.numeric import need_float
from ...core.values import constant, tensor
from ..element_types import precision_of
from ..promotion import as_type
from ..registry import Value, torch_op
from ..spatial import batched
from ..views import Ints, axis_of, cut, reshape
from .reduce import vector_norm


def _filled(x: Value, value: float) -> Value:
    """Make one number for each channel."""
    return constant(np.full(_channels(x), value, numpy_dtype(tensor(x).dtype)))


def _channels(x: Value) -> int:
    if tensor(x).rank < 2:
        raise Invalid(f"has an input {tensor(x)}, must have rank 2 or more: batch, channels")
    return tensor(x).shape[1]


@torch_op("nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d", "F.batch_norm")
def batch_norm(
    input: Value,
    running_mean: Value,
    running_var: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    *,
    eps: float = 1e-5,
    training: bool = False,
) -> tri.BatchNorm:
    if training:
        raise Unsupported("normalises by the batch itself (training=True), must be inference")
    scale = _filled(input, 1) if weight is None else weight
    shift = _filled(input, 0) if bias is None else bias
    return tri.BatchNorm.build(input, scale, shift, running_mean, running_var, epsilon=eps)


@torch_op("nn.LayerNorm", "F.layer_norm")
def layer_norm(
    input: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    *,
    normalized_shape: Ints,
    eps: float = 1e-5,
) -> tri.LayerNorm:
    axis = _first_axis(input, normalized_shape)
    return tri.LayerNorm.build(input, weight, bias, axis=axis, epsilon=eps)


@torch_op("nn.RMSNorm", "F.rms_norm")
def rms_norm(
    input: Value,
    weight: Value | None = None,
    *,
    normalized_shape: Ints,
    eps: float | None = None,
) -> tri.RmsNorm:
    need_float(tensor(input))
    if eps is None:
        eps = precision_of(tensor(input).dtype)
    axis = _first_axis(input, normalized_shape)
    return tri.RmsNorm.build(input, weight, axis=axis, epsilon=eps)


def _first_axis(x: Value, normalized_shape: Ints) -> int:
    """Return the axis from which on the shape of `x` is the one that is normalised over."""
    axis = tensor(x).rank - len(normalized_shape)
    fault = f"has normalized_shape {normalized_shape}, which {tensor(x)} does not end in"
    need(axis, 0, fault)
    need_same_shape(tensor(x).shape[axis:], normalized_shape, fault)
    return axis


@torch_op("nn.GroupNorm", "F.group_norm")
def group_norm(
    input: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
) -> Value:
    scale = _filled(input, 1) if weight is None else weight
    shift = _filled(input, 0) if bias is None else bias
    shape = tensor(input).shape
    x = reshape(input, (*shape, 1)) if len(shape) == 2 else input
    return reshape(tri.GroupNorm.build(x, scale, shift, groups=num_groups, epsilon=eps).y, shape)


def _register_instance_norm(axes: int) -> None:
    @torch_op(f"nn.InstanceNorm{axes}d")
    def instance_norm_module(
        input: Value,
        running_mean: Value | None = None,
        running_var: Value | None = None,
        weight: Value | None = None,
        bias: Value | None = None,
        *,
        eps: float = 1e-5,
    ) -> Value:
        """Normalise by the statistics that were tracked, if there are any."""
        x, drop = batched(input, axes)
        if running_mean is None or running_var is None:
            return drop(_instance_norm(x, weight, bias, eps))
        return drop(batch_norm(x, running_mean, running_var, weight, bias, eps=eps).y)


for _axes in (1, 2, 3):
    _register_instance_norm(_axes)


@torch_op("F.instance_norm")
def instance_norm(
    input: Value,
    running_mean: Value | None = None,
    running_var: Value | None = None,
    weight: Value | None = None,
    bias: Value | None = None,
    *,
    use_input_stats: bool = True,
    eps: float = 1e-5,
) -> Value:
    # Nobody would read the new statistics that a file of PNNX computes.
    if use_input_stats or running_mean is None or running_var is None:
        return _instance_norm(input, weight, bias, eps)
    return batch_norm(input, running_mean, running_var, weight, bias, eps=eps).y


@torch_op("aten::instance_norm")
def instance_norm_of_programs(
    input: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    running_mean: Value | None = None,
    running_var: Value | None = None,
    use_input_stats: bool = True,
    eps: float = 1e-5,
) -> Value:
    """Normalise each image; raises Unsupported where that changes running statistics."""
    if use_input_stats and running_mean is not None:
        raise Unsupported("changes its running statistics (use_input_stats=True)")
    statistics = running_mean, running_var
    return instance_norm(input, *statistics, weight, bias, use_input_stats=use_input_stats, eps=eps)


def _instance_norm(x: Value, weight: Value | None, bias: Value | None, eps: float) -> Value:
    scale = _filled(x, 1) if weight is None else weight
    shift = _filled(x, 0) if bias is None else bias
    return tri.InstanceNorm.build(x, scale, shift, epsilon=eps).y


@torch_op("nn.LocalResponseNorm", "F.local_response_norm")
def local_response_norm(
    input: Value, *, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Value:
    """Divide by what neighbouring channels have; of an even number, one more comes before.

    `tri.lrn` has one more after: the channels in reverse order.
    """
    if size % 2:
        return tri.Lrn.build(input, size=size, alpha=alpha, beta=beta, bias=k).y
    end = -_channels(input) - 1
    turned = cut(input, 1, -1, end, -1)
    made = tri.Lrn.build(turned, size=size, alpha=alpha, beta=beta, bias=k).y
    return cut(made, 1, -1, end, -1)


@torch_op("F.normalize")
def normalize(input: Value, *, p: float = 2.0, dim: int | Ints = 1, eps: float = 1e-12) -> Value:
    """Divide by the norm, or by `eps` where that is greater."""
    if isinstance(dim, int) and p in (1, 2):
        axis = axis_of(input, dim)
        return tri.LpNormalize.build(input, axis=axis, p=int(p), epsilon=eps).y
    length = vector_norm(input, p, dim, keepdim=True)
    least = as_type(eps, tensor(input).dtype)
    return tri.Div.build(input, tri.Maximum.build(length, least).y).y
