"""Rules of `ai.onnx.ml` that scale, normalise, compare and impute features."""

import math

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import is_float
from ....core.values import cast, tensor
from ...registry import Value, onnx_op
from . import DOMAIN
from .operands import floats, numbers_like, row

Floats = tuple[float, ...]


@onnx_op("Scaler", since=1, domain=DOMAIN)
def scaler(x: Value, *, offset: Floats = (), scale: Floats = ()) -> Value:
    """Compute `(x - offset) * scale`."""
    x = floats(x)
    shifted = tri.Sub.build(x, row(offset, x)).y
    return cast(tri.Mul.build(shifted, row(scale, x)).y, "f32")


@onnx_op("Normalizer", since=1, domain=DOMAIN)
def normalizer(x: Value, *, norm: str = "MAX") -> Value:
    """Divide each sample by its norm, unless that is zero."""
    x = floats(x)
    axes = (min(1, tensor(x).rank - 1),)
    if norm == "MAX":  # not of absolute values
        size = tri.ReduceMax.build(x, axes=axes, keepdims=True).y
    elif norm == "L1":
        size = tri.ReduceL1.build(x, axes=axes, keepdims=True).y
    elif norm == "L2":
        size = tri.ReduceL2.build(x, axes=axes, keepdims=True).y
    else:
        raise Invalid(f"has norm '{norm}', must be MAX, L1 or L2")
    is_zero = tri.Equal.build(size, numbers_like(0, x)).y
    divisor = tri.Where.build(is_zero, numbers_like(1, x), size).y
    return cast(tri.Div.build(x, divisor).y, "f32")


@onnx_op("Binarizer", since=1, domain=DOMAIN)
def binarizer(x: Value, *, threshold: float = 0.0) -> Value:
    """Return 1 for each element above the threshold, 0 for others."""
    wide = floats(x)
    above = tri.Greater.build(wide, numbers_like(threshold, wide)).y
    return cast(above, tensor(x).dtype)


@onnx_op("Imputer", since=1, domain=DOMAIN)
def imputer(
    x: Value,
    *,
    imputed_value_floats: Floats = (),
    imputed_value_int64s: tuple[int, ...] = (),
    replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> tri.Where:
    """Replace each element that equals a value, or is NaN, by that of its feature."""
    if not is_float(tensor(x).dtype):
        gone = tri.Equal.build(x, numbers_like(replaced_value_int64, x)).y
        return tri.Where.build(gone, row(imputed_value_int64s, x), x)
    if math.isnan(replaced_value_float):
        gone = tri.IsNan.build(x).y
    else:
        gone = tri.Equal.build(x, numbers_like(replaced_value_float, x)).y
    return tri.Where.build(gone, row(imputed_value_floats, x), x)
