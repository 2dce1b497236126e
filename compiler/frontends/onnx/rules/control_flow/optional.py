"""ONNX rules for optionals: whether one has an element may be known when a model is imported."""

import numpy as np
import onnx

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.checks import need
from ......dialects.core.tensor import Array
from ....core.values import cast
from ...items import EmptyOptional, FoundOptional, Item
from ...registry import Node, Value, onnx_op


@onnx_op("Optional", since=15)
def optional(x: Item | None = None, *, type: onnx.TypeProto | None = None) -> Item:
    return EmptyOptional() if x is None else x


@onnx_op("OptionalHasElement", since=15)
def optional_has_element(x: Item | None = None) -> Array | Value:
    if isinstance(x, FoundOptional):
        return x.has_element
    return np.array(not isinstance(x, EmptyOptional | None))


@onnx_op("OptionalGetElement", since=15)
def optional_get_element(x: Item, *, node: Node) -> Item:
    if isinstance(x, FoundOptional):
        number = tri.Reshape.build(cast(x.has_element, "i64"), shape=(1,)).y
        (count,) = node.found.define(number, [1])
        need(count, 1, "takes the element of an optional that has none")
        return x.element
    if isinstance(x, EmptyOptional):
        raise Invalid("takes the element of an optional that has none")
    return x
