"""Rules of `ai.onnx.ml` for categories and keys: numbers, or text."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import Array, is_string, numpy_dtype
from ....core.values import cast, constant, single, tensor
from ...registry import Value, onnx_op
from . import DOMAIN
from .operands import given_list, is_text, texts

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
    categories = given_list("categories", cats_int64s, cats_strings)
    x = x if is_text(categories) else cast(x, "i64")
    wide = tri.Reshape.build(x, shape=(*tensor(x).shape, 1)).y
    return cast(tri.Equal.build(wide, constant(categories)).y, "f32")


@onnx_op("CategoryMapper", since=1, domain=DOMAIN)
def category_mapper(
    x: Value,
    *,
    cats_int64s: Ints = (),
    cats_strings: Texts = (),
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> Value:
    """Replace text by integers, or integers by text: as the type of `x` asks."""
    numbers, names = np.array(cats_int64s, np.int64), texts(cats_strings)
    if is_string(tensor(x).dtype):
        return _mapped(x, names, numbers, np.array(default_int64))
    return _mapped(x, numbers, names, np.array(default_string, object))


@onnx_op("LabelEncoder", since=1, domain=DOMAIN)
def label_encoder_1(
    x: Value,
    *,
    classes_strings: Texts = (),
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> Value:
    """Replace text by its place in a list, or places by text."""
    places = tuple(range(len(classes_strings)))
    return category_mapper(
        x,
        cats_int64s=places,
        cats_strings=classes_strings,
        default_int64=default_int64,
        default_string=default_string,
    )


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
    keys = given_list("keys", keys_tensor, keys_int64s, keys_floats, keys_strings)
    values = given_list("values", values_tensor, values_int64s, values_floats, values_strings)
    default = {"O": default_string, "i": default_int64}.get(values.dtype.kind, default_float)
    other = default if default_tensor is None else single(default_tensor)
    return _mapped(x, keys, values, np.array(other, values.dtype))


def _mapped(x: Value, keys: Array, values: Array, other: Array) -> Value:
    """Look up text in a table; gather by numbers, for which targets have kernels."""
    if keys.dtype != numpy_dtype(tensor(x).dtype):
        raise Invalid(f"has keys of {keys.dtype} for {tensor(x)}")
    if len(keys) != len(values):
        raise Invalid(f"has {len(keys)} keys, must have as many as values, {len(values)}")
    if is_text(keys) or not len(keys):
        return tri.Lookup.build(x, constant(keys), constant(values), constant(other)).y
    table = np.append(values, other)
    return tri.Gather.build(constant(table), _places(x, keys), axis=0).y


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
