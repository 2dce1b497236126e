"""Rules for overloads of normalisations that have other results than the functions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Unsupported
from ......dialects.core.op import Op
from ......dialects.core.tensor import numpy_dtype
from ....core.values import cast, constant, tensor
from ...expressions import apply
from ...registry import Value, torch_op
from ...views import Ints, reshape
from .. import activation, norm


@torch_op("aten::_native_batch_norm_legit_no_training")
def native_batch_norm(
    input: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    *,
    running_mean: Value,
    running_var: Value,
    eps: float = 1e-5,
) -> tuple[Any, ...]:
    made = norm.batch_norm(input, running_mean, running_var, weight, bias, eps=eps)
    nothing = np.zeros(0, numpy_dtype(tensor(running_mean).dtype))
    return made, nothing, nothing


@torch_op("aten::native_layer_norm")
def native_layer_norm(
    input: Value,
    normalized_shape: Ints,
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
) -> tuple[Any, ...]:
    """Normalise; the other results are means, and reciprocals of deviations."""
    made = norm.layer_norm(input, weight, bias, normalized_shape=normalized_shape, eps=eps)
    rank = tensor(input).rank
    axes = tuple(range(rank - len(normalized_shape), rank))
    return made, *statistics(input, axes, eps)


@torch_op("aten::native_group_norm")
def native_group_norm(
    input: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    *,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Any, ...]:
    made = norm.group_norm(input, weight, bias, num_groups=group, eps=eps)
    groups = reshape(input, (N, group, C // group * HxW))
    found = statistics(groups, (2,), eps)
    return made, *(reshape(each, (N, group)) for each in found)


def statistics(x: Value, axes: Sequence[int], eps: float) -> tuple[Value, Value]:
    """Return means along axes, which are kept, and reciprocals of deviations."""
    dtype = tensor(x).dtype
    wide = cast(x, "f32") if dtype in ("f16", "bf16") else x
    mean = tri.ReduceMean.build(wide, axes=tuple(axes), keepdims=True).y
    rest = tri.Sub.build(wide, mean).y
    square = tri.ReduceMean.build(tri.Mul.build(rest, rest).y, axes=tuple(axes), keepdims=True).y
    return cast(mean, dtype), cast(apply("rsqrt(add(@0,@1))", square, eps), dtype)


@torch_op("aten::_weight_norm")
def weight_norm(v: Value, g: Value, dim: int = 0) -> tri.Mul:
    """Scale `v` so that its parts along an axis have the norms `g`."""
    axes = tuple(axis for axis in range(tensor(v).rank) if axis != dim)
    length = tri.ReduceL2.build(v, axes=axes, keepdims=True).y
    return tri.Mul.build(v, tri.Div.build(g, length).y)


def _unchanged(half_to_float: bool) -> None:
    if half_to_float:
        raise Unsupported("computes f32 of f16 (half_to_float=True), must keep the type")


@torch_op("aten::_softmax")
def softmax(self: Value, dim: int, half_to_float: bool = False) -> Op:
    _unchanged(half_to_float)
    return activation.softmax(self, dim=dim)


@torch_op("aten::_log_softmax")
def log_softmax(self: Value, dim: int, half_to_float: bool = False) -> Op:
    _unchanged(half_to_float)
    return activation.log_softmax(self, dim=dim)


@torch_op("aten::_safe_softmax")
def safe_softmax(self: Value, dim: int, dtype: str | None = None) -> Op:
    """Compute softmax; rows of which nothing is greater than minus infinity become zeros."""
    made = activation.softmax(self, dim=dim, dtype=dtype).results[0]
    zero = constant(np.zeros((), numpy_dtype(tensor(made).dtype)))
    return tri.Where.build(tri.IsNan.build(made).y, zero, made)
