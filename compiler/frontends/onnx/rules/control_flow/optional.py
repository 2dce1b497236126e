"""ONNX rules for optionals: whether one has an element is known when a model is imported."""

import numpy as np
import onnx

from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import Array
from ...items import EmptyOptional, Item
from ...registry import onnx_op


@onnx_op("Optional", since=15)
def optional(x: Item | None = None, *, type: onnx.TypeProto | None = None) -> Item:
    return EmptyOptional() if x is None else x


@onnx_op("OptionalHasElement", since=15)
def optional_has_element(x: Item | None = None) -> Array:
    return np.array(not isinstance(x, EmptyOptional | None))


@onnx_op("OptionalGetElement", since=15)
def optional_get_element(x: Item) -> Item:
    if isinstance(x, EmptyOptional):
        raise Invalid("takes the element of an optional that has none")
    return x
