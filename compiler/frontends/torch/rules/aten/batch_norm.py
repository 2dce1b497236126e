"""Rules for batch normalisation in training, which also returns new running statistics."""

from typing import Any

import numpy as np

from ......dialects import tri
from ......dialects.core.tensor import numpy_dtype
from ....core.values import cast, constant, tensor
from ...registry import Value, torch_op
from ...views import reshape
from .. import norm, reduce
from .norms import statistics


@torch_op("aten::_native_batch_norm_legit_functional")
def batch_norm_with_new_statistics(
    input: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    *,
    running_mean: Value,
    running_var: Value,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    """Normalise by the statistics of the batch, and move the running ones towards these.

    The second and third result are the mean of the batch, and the reciprocal of its deviation.
    """
    if not training:
        made = norm.batch_norm(input, running_mean, running_var, weight, bias, eps=eps)
        nothing = constant(np.zeros(0, numpy_dtype(tensor(input).dtype)))
        return made, nothing, nothing, running_mean, running_var
    mean = reduce.mean(input, _others(input))
    made = norm.batch_norm(input, mean, _variance(input, 0), weight, bias, eps=eps)
    wide = cast(input, tensor(running_mean).dtype)  # statistics of half types may be in f32
    new_mean = _moved(running_mean, reduce.mean(wide, _others(input)), momentum)
    new_variance = _moved(running_var, _variance(wide, 1), momentum)
    found = _saved(input, eps)
    return made, *found, new_mean, new_variance


@torch_op("aten::_native_batch_norm_legit.no_stats")
def batch_norm_of_batch(
    input: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    *,
    training: bool,
    momentum: float = 0.0,
    eps: float,
) -> tuple[Any, ...]:
    """Normalise by the statistics of the batch, in inference too: there are no others."""
    mean, variance = reduce.mean(input, _others(input)), _variance(input, 0)
    made = norm.batch_norm(input, mean, variance, weight, bias, eps=eps)
    return made, *_saved(input, eps)


def _saved(x: Value, eps: float) -> tuple[Value | None, ...]:
    """Return statistics of a batch, None of half types: torch has these in f32 or not."""
    if tensor(x).dtype not in ("f32", "f64"):
        return None, None
    return tuple(reshape(each, tensor(x).shape[1:2]) for each in statistics(x, _others(x), eps))


def _others(x: Value) -> tuple[int, ...]:
    """List the axes beside that of channels."""
    return tuple(axis for axis in range(tensor(x).rank) if axis != 1)


def _variance(x: Value, correction: float) -> Value:
    return reduce.var(x, _others(x), correction=correction)


def _moved(running: Value, found: Value, momentum: float) -> Value:
    """Return running statistics, a part of which is replaced by what was found."""
    kind = numpy_dtype(tensor(running).dtype)
    kept, added = (constant(np.array(part, kind)) for part in (1 - momentum, momentum))
    return tri.Add.build(tri.Mul.build(running, kept).y, tri.Mul.build(found, added).y).y
