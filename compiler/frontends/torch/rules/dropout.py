"""Rules for operators that drop elements in training, and do nothing in inference."""

import math
from typing import Any

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid, Unsupported
from .....dialects.core.tensor import Shape, is_float
from ...core.random_numbers import RandomNumbers
from ...core.values import cast, filled, tensor
from ..expressions import apply
from ..promotion import as_type
from ..registry import Value, torch_op
from ..views import expand
from .random_numbers import wide_type

SELU = 1.7580993408473766
"""The negative of what SELU makes of minus infinity: its scale times its alpha."""


@torch_op("nn.AlphaDropout", "nn.Dropout", "nn.Dropout1d", "nn.Dropout2d", "nn.Dropout3d")
@torch_op("nn.FeatureAlphaDropout")
def dropout_module(input: Any, *, p: float = 0.5) -> Any:
    return input


@torch_op("F.dropout1d", "F.dropout2d", "F.dropout3d", "F.dropoutnd")
def dropout_nd(input: Any, *, p: float = 0.5, training: bool = False) -> Any:
    """Drop features in inference alone: where the batch may be missing, their axis is not known."""
    if training:
        raise Unsupported("drops features at random (training=True), must be inference")
    return input


@torch_op("F.dropout", renamed={"train": "training"})
def dropout(input: Any, *, p: float = 0.5, training: bool = False, random: RandomNumbers) -> Any:
    return _dropped(input, p, _kept(input, p, random))[0] if training else input


@torch_op("aten::feature_dropout", renamed={"train": "training"})
def feature_dropout(
    input: Any, *, p: float = 0.5, training: bool = False, random: RandomNumbers
) -> Any:
    """Drop whole channels of each sample: `input` is [N, C, …]."""
    return _dropped(input, p, _kept_features(input, p, random))[0] if training else input


@torch_op("F.alpha_dropout", renamed={"train": "training"})
def alpha_dropout(
    input: Any, *, p: float = 0.5, training: bool = False, random: RandomNumbers
) -> Any:
    return _shifted(input, p, _kept(input, p, random)) if training else input


@torch_op("F.feature_alpha_dropout", renamed={"train": "training"})
def feature_alpha_dropout(
    input: Any, *, p: float = 0.5, training: bool = False, random: RandomNumbers
) -> Any:
    return _shifted(input, p, _kept_features(input, p, random)) if training else input


@torch_op("aten::native_dropout", renamed={"train": "training"})
def native_dropout(
    input: Any, p: float = 0.5, training: bool | None = None, *, random: RandomNumbers
) -> tuple[Any, Any]:
    """Drop elements in training; the second result has which ones are kept."""
    if training is False:
        return input, filled(tensor(input).shape, np.ones((), np.bool_))
    return _dropped(input, p, _kept(input, p, random))


def _kept_features(x: Value, p: float, random: RandomNumbers) -> Value:
    shape = tensor(x).shape
    if len(shape) < 2:
        raise Invalid(f"drops features of {tensor(x)}, must have axes for samples and features")
    return _kept(x, p, random, (*shape[:2], *[1] * (len(shape) - 2)))


def _kept(x: Value, p: float, random: RandomNumbers, shape: Shape | None = None) -> Value:
    """Draw which elements of a tensor are kept, or parts of a shape that broadcasts to its own."""
    dtype = tensor(x).dtype
    if not is_float(dtype):
        raise Invalid(f"drops elements of {dtype}, must be floats")
    if not 0 <= p <= 1:
        raise Invalid(f"drops elements with probability {p}, must be from 0 to 1")
    drawn = random.uniform(tensor(x).shape if shape is None else shape, wide_type(dtype), None)
    return tri.GreaterEqual.build(drawn, as_type(p, tensor(drawn).dtype)).y


def _dropped(x: Value, p: float, kept: Value) -> tuple[Value, Value]:
    """Return a tensor with zeros in the place of what is not kept, the rest scaled; and `kept`."""
    nothing = as_type(0, tensor(x).dtype)
    scaled = expand(nothing, tensor(x).shape) if p == 1 else apply("div(@0,@1)", x, 1 - p)
    return tri.Where.build(kept, scaled, nothing).y, kept


def _shifted(x: Value, p: float, kept: Value) -> Value:
    """Return a tensor with SELU's least value in the place of what is not kept.

    All of it is shifted and scaled so that mean and variance remain: G. Klambauer et al.,
    "Self-Normalizing Neural Networks", 2017.
    """
    if p == 1:
        return cast(apply("mul(@0,0.0)", x), tensor(x).dtype)
    scale = 1 / math.sqrt((SELU**2 * p + 1) * (1 - p))
    rest = tri.Where.build(kept, x, as_type(-SELU, tensor(x).dtype)).y
    return apply("add(mul(@0,@1),@2)", rest, scale, SELU * scale * p)
