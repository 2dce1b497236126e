"""Rules of `ai.onnx.ml` for categories and keys that are numbers."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.tensor import Array, is_float, numpy_dtype
from ....core.values import cast, constant, tensor
from ...registry import Value, onnx_op
from . import DOMAIN
from .operands import need_no_text

Ints = tuple[int, ...]
Floats = tuple[float, ...]
Texts = tuple[str, ...]

DENSE = 1024
"""Integer keys that leave up to this many gaps, or three quarters, are looked up in a table."""


@onnx_op("OneHotEncoder", since=1, domain=DOMAIN)
def one_hot_encoder(
    x: Value, *, cats_int64s: Ints = (), cats_strings: Texts = (), zeros: int = 1
) -> Value:
    """Return 1 at the place of the category; one that is unknown has zeros alone.

    ONNX Runtime refuses to run on one that is unknown where `zeros` is 0.
    """
    need_no_text("categories", cats_strings)
    if not cats_int64s:
        raise Invalid("lacks attribute 'cats_int64s'")
    x = cast(x, "i64")
    wide = tri.Reshape.build(x, shape=(*tensor(x).shape, 1)).y
    return cast(tri.Equal.build(wide, constant(np.array(cats_int64s, np.int64))).y, "f32")


@onnx_op("CategoryMapper", since=1, domain=DOMAIN)
def category_mapper(
    x: Value,
    *,
    cats_int64s: Ints = (),
    cats_strings: Texts = (),
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> Value:
    raise Unsupported("maps categories to text or back, must have numbers on both sides")


@onnx_op("LabelEncoder", since=1, domain=DOMAIN)
def label_encoder_of_text(
    x: Value,
    *,
    classes_strings: Texts = (),
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> Value:
    raise Unsupported("maps labels to text or back, must have numbers on both sides")


@onnx_op("LabelEncoder", since=2, domain=DOMAIN)
def label_encoder(
    x: Value,
    *,
    default_float: float = -0.0,
    default_int64: int = -1,
    default_string: str = "_Unused",
    default_tensor: Array | None = None,
    keys_floats: Floats = (),
    keys_int64s: Ints = (),
    keys_strings: Texts = (),
    keys_tensor: Array | None = None,
    values_floats: Floats = (),
    values_int64s: Ints = (),
    values_strings: Texts = (),
    values_tensor: Array | None = None,
) -> Value:
    """Replace each key by its value, and others by a default."""
    need_no_text("keys or values", keys_strings, values_strings)
    keys = _given(keys_tensor, keys_int64s, keys_floats, "keys")
    values = _given(values_tensor, values_int64s, values_floats, "values")
    if keys.dtype != numpy_dtype(tensor(x).dtype):
        raise Invalid(f"has keys of {keys.dtype} for {tensor(x)}")
    if len(keys) != len(values):
        raise Invalid(f"has {len(keys)} keys, must have as many as values, {len(values)}")
    default = default_float if is_float(tensor(constant(values)).dtype) else default_int64
    other = np.array(default if default_tensor is None else default_tensor.reshape(()))
    table = np.append(values, other.astype(values.dtype))
    return tri.Gather.build(constant(table), _places(x, keys), axis=0).y


def _given(array: Array | None, integers: Ints, floats: Floats, what: str) -> Array:
    if array is not None:
        if array.dtype.kind not in "iuf":
            need_no_text(what, True)
        return array.reshape(-1)
    if integers:
        return np.array(integers, np.int64)
    if not floats:
        raise Invalid(f"lacks {what}")
    return np.array(floats, np.float32)


def _places(x: Value, keys: Array) -> Value:
    """Return the index of the first key that equals each element, or the number of keys."""
    if keys.dtype.kind != "f" and int(keys.max()) - int(keys.min()) < 4 * len(keys) + DENSE:
        return _looked_up(x, keys)
    wide = tri.Reshape.build(x, shape=(*tensor(x).shape, 1)).y
    same = tri.Equal.build(wide, constant(keys)).y
    if keys.dtype.kind == "f" and np.isnan(keys).any():
        both = tri.And.build(tri.IsNan.build(wide).y, constant(np.isnan(keys))).y
        same = tri.Or.build(same, both).y
    last = constant(np.array(len(keys), np.int64))
    places = tri.Where.build(same, constant(np.arange(len(keys))), last).y
    return tri.ReduceMin.build(places, axes=(tensor(x).rank,), keepdims=False).y


def _looked_up(x: Value, keys: Array) -> Value:
    least, most = int(keys.min()), int(keys.max())
    table = np.full(most - least + 2, len(keys), np.int64)
    for place in reversed(range(len(keys))):
        table[int(keys[place]) - least] = place
    x, size = cast(x, "i64"), constant(np.array(len(table) - 1, np.int64))
    bounds = [constant(np.array(bound, np.int64)) for bound in (least, most)]
    is_below, is_above = tri.Less.build(x, bounds[0]).y, tri.Greater.build(x, bounds[1]).y
    outside = tri.Or.build(is_below, is_above).y
    at = tri.Where.build(outside, size, tri.Sub.build(x, bounds[0]).y).y
    return tri.Gather.build(constant(table), at, axis=0).y
