"""Rules for activation functions."""

from collections.abc import Callable

import numpy as np

from .....dialects import tri
from .....dialects.core.op import Op
from .....dialects.core.sizes.checks import need_divides
from .....dialects.core.tensor import is_float
from ...core.random_numbers import RandomNumbers
from ...core.values import cast, tensor
from ..element_types import torch_type
from ..expressions import apply
from ..promotion import as_float, as_type
from ..registry import Value, torch_op
from ..views import axis_of, cut, shape_of

SAME: tuple[tuple[tuple[str, ...], type[Op]], ...] = (
    (("nn.Hardswish", "F.hardswish"), tri.Hardswish),
    (("nn.Mish", "F.mish"), tri.Mish),
    (("nn.ReLU", "F.relu", "torch.relu"), tri.Relu),
    (("nn.SELU", "F.selu"), tri.Selu),
    (("nn.Sigmoid", "F.sigmoid", "torch.sigmoid"), tri.Sigmoid),
    (("nn.SiLU", "F.silu"), tri.Silu),
    (("nn.Softsign", "F.softsign"), tri.Softsign),
    (("nn.Tanh", "F.tanh"), tri.Tanh),
    (("torch.lgamma",), tri.Lgamma),
)
"""Activations that are one op with its default attributes: types, op."""

REAL = (tri.Lgamma, tri.Sigmoid, tri.Tanh)
"""Those of integers, too: they are taken as floats."""


def _same(op: type[Op]) -> Callable[[Value], Op]:
    def activation(input: Value) -> Op:
        return op.build(as_float(input) if op in REAL else input)

    return activation


for _types, _op in SAME:
    torch_op(*_types)(_same(_op))


@torch_op("nn.ELU", "F.elu")
def elu(input: Value, *, alpha: float = 1.0) -> tri.Elu:
    return tri.Elu.build(input, alpha=alpha)


@torch_op("nn.CELU", "F.celu")
def celu(input: Value, *, alpha: float = 1.0) -> tri.Celu:
    return tri.Celu.build(input, alpha=alpha)


@torch_op("nn.GELU", "F.gelu")
def gelu(input: Value, *, approximate: str = "none") -> tri.Gelu:
    return tri.Gelu.build(input, approximate=approximate)


@torch_op("nn.LeakyReLU", "F.leaky_relu")
def leaky_relu(input: Value, *, negative_slope: float = 0.01) -> tri.LeakyRelu:
    return tri.LeakyRelu.build(input, alpha=negative_slope)


@torch_op("nn.RReLU", "F.rrelu")
def rrelu(
    input: Value,
    *,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    random: RandomNumbers,
) -> tri.LeakyRelu | Value:
    """Take the mean of the slopes that training chooses from at random."""
    if not training:
        return tri.LeakyRelu.build(input, alpha=(lower + upper) / 2)
    drawn = random.uniform(tensor(input).shape, tensor(input).dtype, None)
    slope = cast(apply("add(mul(@0,@1),@2)", drawn, upper - lower, lower), tensor(input).dtype)
    return tri.Prelu.build(input, slope).y


@torch_op("nn.PReLU", "F.prelu")
def prelu(input: Value, weight: Value) -> tri.Prelu:
    """Take one slope for all, or one for each channel."""
    rank, count = tensor(input).rank, tensor(weight).size
    shape = (count, *[1] * (rank - 2)) if rank > 1 else (count,)
    slope = weight if count > 1 and rank == 2 else tri.Reshape.build(weight, shape=shape).y
    return tri.Prelu.build(input, slope)


@torch_op("nn.ReLU6", "F.relu6")
def relu6(input: Value) -> Value:
    return limited(input, 0, 6)


@torch_op("nn.Hardtanh", "F.hardtanh")
def hardtanh(input: Value, *, min_val: float = -1.0, max_val: float = 1.0) -> Value:
    return limited(input, min_val, max_val)


def limited(x: Value, low: float | None, high: float | None) -> Value:
    """Clip elements to limits, either of which may be missing."""
    if is_float(tensor(x).dtype):
        least, most = -np.inf if low is None else low, np.inf if high is None else high
        return tri.Clip.build(x, min=least, max=most).y
    if low is not None:
        x = tri.Maximum.build(x, as_type(low, tensor(x).dtype)).y
    return x if high is None else tri.Minimum.build(x, as_type(high, tensor(x).dtype)).y


@torch_op("nn.Hardsigmoid", "F.hardsigmoid")
def hardsigmoid(input: Value) -> tri.HardSigmoid:
    return tri.HardSigmoid.build(input, alpha=1 / 6, beta=0.5)


@torch_op("nn.Hardshrink", "F.hardshrink")
def hardshrink(input: Value, *, lambd: float = 0.5) -> tri.Shrink:
    return tri.Shrink.build(input, bias=0.0, threshold=lambd)


@torch_op("nn.Softshrink", "F.softshrink")
def softshrink(input: Value, *, lambd: float = 0.5) -> tri.Shrink:
    return tri.Shrink.build(input, bias=lambd, threshold=lambd)


@torch_op("nn.Tanhshrink", "F.tanhshrink")
def tanhshrink(input: Value) -> tri.Sub:
    return tri.Sub.build(input, tri.Tanh.build(input).y)


@torch_op("nn.Threshold", "F.threshold")
def threshold(input: Value, *, threshold: float, value: float) -> Op:
    if value == 0 and is_float(tensor(input).dtype):
        return tri.ThresholdedRelu.build(input, alpha=threshold)
    limit, other = (as_type(v, tensor(input).dtype) for v in (threshold, value))
    return tri.Where.build(tri.Greater.build(input, limit).y, input, other)


EXACT = 20.0
"""From here on softplus of a number is the number in f32."""


@torch_op("nn.Softplus", "F.softplus")
def softplus(input: Value, *, beta: float = 1.0, threshold: float = EXACT) -> Value:
    """Compute log(1 + exp(beta * x)) / beta; above the threshold the line that it comes near."""
    dtype = tensor(input).dtype
    scaled = input if beta == 1 else tri.Mul.build(input, as_type(beta, dtype)).y
    curve = tri.Softplus.build(scaled).y
    curve = curve if beta == 1 else tri.Div.build(curve, as_type(beta, dtype)).y
    if threshold >= EXACT:
        return curve
    above = tri.Greater.build(scaled, as_type(threshold, dtype)).y
    return tri.Where.build(above, input, curve).y


@torch_op("nn.LogSigmoid", "F.logsigmoid")
def logsigmoid(input: Value) -> tri.Neg:
    return tri.Neg.build(tri.Softplus.build(tri.Neg.build(input).y).y)


@torch_op("nn.Softmax", "F.softmax", "torch.softmax")
def softmax(input: Value, *, dim: int | None = None, dtype: str | None = None) -> tri.Softmax:
    x = input if dtype is None else cast(input, torch_type(dtype))
    return tri.Softmax.build(x, axis=_distribution_axis(x, dim))


@torch_op("nn.Softmax2d")
def softmax2d(input: Value) -> tri.Softmax:
    return tri.Softmax.build(input, axis=axis_of(input, -3))


@torch_op("nn.Softmin", "F.softmin")
def softmin(input: Value, *, dim: int | None = None) -> tri.Softmax:
    return tri.Softmax.build(tri.Neg.build(input).y, axis=_distribution_axis(input, dim))


@torch_op("nn.LogSoftmax", "F.log_softmax", "torch.log_softmax")
def log_softmax(
    input: Value, *, dim: int | None = None, dtype: str | None = None
) -> tri.LogSoftmax:
    x = input if dtype is None else cast(input, torch_type(dtype))
    return tri.LogSoftmax.build(x, axis=_distribution_axis(x, dim))


def _distribution_axis(x: Value, dim: int | None) -> int:
    """Return the axis, or the one that torch takes when none is given."""
    if dim is None:
        dim = 0 if tensor(x).rank in (0, 1, 3) else 1
    return axis_of(x, dim)


@torch_op("nn.GLU", "F.glu")
def glu(input: Value, *, dim: int = -1) -> tri.Mul:
    axis = axis_of(input, dim)
    size = shape_of(input)[axis]
    need_divides(size, 2, f"halves axis {axis}, which has size {size}, must be even")
    first, second = cut(input, axis, 0, size // 2), cut(input, axis, size // 2, size)
    return tri.Mul.build(first, tri.Sigmoid.build(second).y)
