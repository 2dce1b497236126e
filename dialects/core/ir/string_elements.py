"""Arrays of text as attributes: `dense<["a", "b"]> : tensor<2x!tri.string>`."""

import re
from collections.abc import Iterable

import numpy as np

from ..errors import Invalid
from ..mlir import ir
from ..tensor import Array, Shape

_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_NAMED = {b"n": b"\n", b"t": b"\t"}


def string_elements(array: Array, type_: ir.Type) -> ir.Attribute:
    """Return an array of Python strings as an attribute of a tensor type.

    Raises Invalid for other objects, and for strings that are not Unicode.
    """
    for text in array.reshape(-1):
        if not isinstance(text, str):
            raise Invalid(f"has a {type(text).__name__} among its elements, must have strings")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise Invalid(f"has {text!r}, which is not Unicode")
    if not array.size:
        return ir.Attribute.parse(f"dense<> : {type_}")
    assert isinstance(type_, ir.RankedTensorType)
    element = type_.element_type
    texts = [ir.StringAttr.get_typed(element, text) for text in array.reshape(-1)]
    return ir.DenseElementsAttr.get(texts, type_)


def strings_of(attribute: ir.Attribute, shape: Shape) -> Array:
    """Return the elements of an attribute: the bindings give its text alone."""
    printed = str(attribute).encode()
    texts = [_unescaped(found) for found in _QUOTED.findall(printed)]
    return np.resize(object_array(texts), shape)  # repeats a splat


def _unescaped(text: bytes) -> str:
    return _ESCAPE.sub(lambda found: _byte(found[1]), text).decode()


def _byte(escape: bytes) -> bytes:
    return bytes.fromhex(escape.decode()) if len(escape) == 2 else _NAMED.get(escape, escape)


def object_array(texts: Iterable[str]) -> Array:
    """Return texts as an array of one axis."""
    listed = list(texts)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array
