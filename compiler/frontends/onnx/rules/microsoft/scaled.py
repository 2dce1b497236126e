"""Integers with a scale and a zero point as the floats that they stand for, and back."""

from ......dialects import tri
from ....core.values import cast, tensor
from ...quantization import centered, quantized
from ...registry import Value


def real(x: Value, scale: Value, zero_point: Value | None) -> Value:
    """Return the floats that integers stand for."""
    return tri.Mul.build(cast(centered(x, zero_point), "f32"), scale).y


def stored(x: Value, scale: Value, zero_point: Value | None, like: Value) -> Value:
    """Return the integers that are nearest to floats, of the type of others."""
    return quantized(tri.Div.build(x, scale).y, zero_point, tensor(like).dtype)
