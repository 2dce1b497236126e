"""Rules of `ai.onnx.ml` for maps: those that go in are keys and values, those out are tensors."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported, need_one_of
from ......dialects.core.tensor import STRING, is_string, numpy_dtype
from ....core.values import cast, constant, tensor
from ...items import TensorMap
from ...registry import Value, onnx_op
from . import DOMAIN
from .operands import given_list
from .scores import class_labels


@onnx_op("ZipMap", since=1, domain=DOMAIN)
def zip_map(
    x: Value,
    *,
    classlabels_int64s: tuple[int, ...] = (),
    classlabels_strings: tuple[str, ...] = (),
) -> Value:
    """Return the probabilities that the maps of all samples have, as [N, classes]."""
    labels = class_labels(classlabels_int64s, classlabels_strings)
    if len(labels) != tensor(x).shape[-1]:
        raise Invalid(f"has {len(labels)} class labels for {tensor(x)}")
    return x


@onnx_op("DictVectorizer", since=1, domain=DOMAIN)
def dict_vectorizer(
    x: TensorMap,
    *,
    int64_vocabulary: tuple[int, ...] = (),
    string_vocabulary: tuple[str, ...] = (),
) -> Value:
    """Return the value of each key in the vocabulary, 0 or no text without one, as [1, keys]."""
    vocabulary = given_list("keys", int64_vocabulary, string_vocabulary)
    if vocabulary.dtype != numpy_dtype(tensor(x.keys).dtype):
        raise Invalid(f"has a vocabulary of {vocabulary.dtype} for keys {tensor(x.keys)}")
    default = "" if is_string(tensor(x.values).dtype) else 0
    y = _looked_up(constant(vocabulary), x.keys, x.values, default)
    return tri.Reshape.build(y, shape=(1, len(vocabulary))).y


CASTS = {"TO_FLOAT": "f32", "TO_INT64": "i64", "TO_STRING": STRING}


@onnx_op("CastMap", since=1, domain=DOMAIN)
def cast_map(
    x: TensorMap, *, cast_to: str = "TO_FLOAT", map_form: str = "DENSE", max_map: int = 1
) -> Value:
    """Return the values in the order of their keys, or those of the keys from 0 to `max_map` - 1.

    Where there is no key, numbers are 0 and text is `0.f`, as by ONNX Runtime.
    """
    need_one_of("cast_to", cast_to, tuple(CASTS))
    need_one_of("map_form", map_form, ("DENSE", "SPARSE"))
    dtype = CASTS[cast_to]
    if is_string(dtype) and not is_string(tensor(x.values).dtype):
        raise Unsupported(f"writes {tensor(x.values)} as text: ONNX does not say how")
    values = cast(x.values, dtype)
    if map_form == "DENSE":
        size = tensor(x.keys).shape[0]
        order = tri.TopK.build(x.keys, k=size, largest=False).indices
        y = tri.Gather.build(values, order, axis=0).y
        return tri.Reshape.build(y, shape=(1, size)).y
    if max_map < 1:
        raise Invalid(f"has max_map {max_map}, must be at least 1")
    places = constant(np.arange(max_map, dtype=np.int64))
    y = _looked_up(places, x.keys, values, "0.f" if is_string(dtype) else 0)
    return tri.Reshape.build(y, shape=(1, max_map)).y


def _looked_up(wanted: Value, keys: Value, values: Value, default: str | int) -> Value:
    other = np.array(default, numpy_dtype(tensor(values).dtype))
    return tri.Lookup.build(wanted, keys, values, constant(other)).y
