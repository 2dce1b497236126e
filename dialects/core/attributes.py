"""Conversion between MLIR attributes and the plain Python values of op fields."""

import re
import typing
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from .errors import Invalid, Unsupported
from .ir.string_elements import string_elements, strings_of
from .mlir import ir
from .quantized import canonical, check_scales, is_quantized
from .sizes.atoms import Size, is_symbolic
from .symbol_table import SymbolTable, symbol_table
from .tensor import DTYPES, Array, Shape, Tensor, is_narrow, is_string, numpy_dtype, size_fault
from .type_dimensions import check_dimensions, encoded, encoding_of

SPELLING: dict[Any, str] = {
    bool: "a bool",
    int: "an i64 integer",
    float: "an f64 float",
    str: "a string",
    tuple[int, ...]: "an array<i64>",
    tuple[float, ...]: "an array<f64>",
    tuple[str, ...]: "an array of strings",
    Tensor: "a ranked tensor type",
    Array: "a dense elements attribute",
}
"""The Python types that an attribute field may have, and how a message names them."""


Found = TypeVar("Found")

Readable = TypeVar("Readable", ir.Type, ir.Attribute)

_Readers = dict[Callable[[Any], Any], dict[Any, Any]]
_READ: ContextVar[_Readers | None] = ContextVar("types and attributes read", default=None)


@contextmanager
def types_read_once() -> Generator[None]:
    """Let `read_once` read each type and each array once in the block.

    The text of a type may have thousands of scales; of an array, the bindings read number by
    number. The outermost of nested blocks drops the values read, which keep contexts alive.
    """
    if _READ.get() is not None:
        yield
        return
    token = _READ.set({})
    try:
        yield
    finally:
        _READ.reset(token)


def read_once(read: Callable[[Readable], Found], source: Readable) -> Found:
    """Return the value that a function reads of a type or attribute; raise its error each time."""
    readers = _READ.get()
    if readers is None:
        return read(source)
    known = readers.setdefault(read, {})
    found = known.get(source)
    if found is None:
        found = known[source] = read(source)
    return found


def tensor_of(type_: ir.Type) -> Tensor:
    """Return the plain type of a ranked tensor type, in any order of its axes in memory.

    Raises Invalid for other types, for invalid orders, for dynamic sizes that no expression of
    declared symbols names, and for sizes beyond any memory.
    """
    return read_once(_read, type_)


def _read(type_: ir.Type) -> Tensor:
    if not isinstance(type_, ir.RankedTensorType):
        raise Invalid(f"operand or result has type {type_}, must be a ranked tensor")
    dtype = str(type_.element_type)
    if is_quantized(dtype):
        dtype = canonical(dtype)
    elif dtype not in DTYPES:
        raise Invalid(f"{type_} has element type {dtype}, must be one of {', '.join(DTYPES)}")
    if type_.encoding is not None:
        order_of(type_)
    tensor = Tensor(_shape_of(type_), dtype)
    check_scales(tensor.shape, dtype)
    if fault := size_fault(tensor):
        raise Invalid(f"needs {fault}")
    check_dimensions(type_, tensor)
    return tensor


def _shape_of(type_: ir.RankedTensorType) -> Shape:
    _, sizes = _encoding(type_)
    if type_.has_static_shape and sizes is None:
        return tuple(type_.shape)
    texts = _strings(sizes)
    if len(texts) != type_.rank:
        raise Invalid(f"{type_} has dynamic sizes, must have the expression of each in its type")
    table = symbol_table(type_.context)
    return tuple(
        _dynamic_size(type_, axis, text, table) if type_.is_dynamic_dim(axis) else size
        for axis, (size, text) in enumerate(zip(type_.shape, texts, strict=True))
        if type_.is_dynamic_dim(axis) or _is_empty(type_, text)
    )


def _is_empty(type_: ir.Type, text: str) -> bool:
    if text:
        raise Invalid(f"{type_} has expression '{text}' for a static size, must be empty")
    return True


def _dynamic_size(type_: ir.Type, axis: int, text: str, table: SymbolTable) -> Size:
    size = table.parse(text)
    if not is_symbolic(size) or str(size) != text:
        raise Invalid(f"{type_} has expression '{text}' along axis {axis}, must be spelled {size}")
    return size


def _encoding(
    type_: ir.RankedTensorType,
) -> tuple[ir.Attribute | None, ir.Attribute | None]:
    """Return the order and the sizes that the encoding of a type has: either may be alone."""
    known = encoded(type_)
    return known.get("order"), known.get("sizes")


def _strings(attribute: ir.Attribute | None) -> tuple[str, ...]:
    if not isinstance(attribute, ir.ArrayAttr):
        return ()
    return tuple(item.value for item in attribute if isinstance(item, ir.StringAttr))


def order_of(type_: ir.Type) -> tuple[int, ...]:
    """Return the order of the axes of a tensor type in memory, outermost first.

    A type without an encoding is row-major. Raises Invalid for an encoding that is no order.
    """
    assert isinstance(type_, ir.RankedTensorType)
    plain = tuple(range(type_.rank))
    encoding, _ = _encoding(type_)
    if encoding is None:
        return plain
    try:
        order = tuple(axis.value for axis in encoding)
    except (TypeError, AttributeError):
        order = ()
    if any(type(axis) is not int for axis in order) or tuple(sorted(order)) != plain:
        raise Invalid(f"{type_} is in no order: it must name each of {type_.rank} axes once")
    if order == plain:
        raise Invalid(f"{type_} is in row-major order, which must be left out")
    return order


def type_of(tensor: Tensor, order: tuple[int, ...] = ()) -> ir.Type:
    """Return the MLIR type of a plain tensor type, in the current context.

    `order` is the order of the axes in memory where that is not row-major.
    """
    if fault := size_fault(tensor):
        raise Unsupported(f"needs {fault}")
    check_scales(tensor.shape, tensor.dtype)
    element = ir.Type.parse(tensor.dtype)
    plain = order in ((), tuple(range(tensor.rank)))
    if tensor.is_static:
        return ir.RankedTensorType.get(tensor.shape, element, None if plain else _axes(order))
    sizes = expressions(tensor.shape)
    encoding = encoding_of({"sizes": sizes} if plain else {"order": _axes(order), "sizes": sizes})
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [dynamic if is_symbolic(size) else size for size in tensor.shape]
    return ir.RankedTensorType.get(shape, element, encoding)


def expressions(sizes: Shape) -> ir.Attribute:
    """Return the texts of sizes that depend on symbols, empty for all others."""
    return ir.ArrayAttr.get(
        [ir.StringAttr.get(str(size) if is_symbolic(size) else "") for size in sizes]
    )


def _axes(order: tuple[int, ...]) -> ir.Attribute:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.IntegerAttr.get(i64, axis) for axis in order])


def to_attribute(value: Any, kind: Any) -> ir.Attribute:
    """Convert a field's Python value to an attribute of the current context."""
    if kind is bool:
        return ir.BoolAttr.get(bool(value))
    if kind is int and is_symbolic(value):
        return ir.StringAttr.get(str(value))
    if kind is int:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(value))
    if kind is float:
        return ir.FloatAttr.get_f64(float(value))
    if kind is str:
        return ir.StringAttr.get(value)
    if kind == tuple[int, ...] and any(map(is_symbolic, value)):
        return ir.ArrayAttr.get([ir.StringAttr.get(str(size)) for size in value])
    if kind == tuple[int, ...]:
        return ir.DenseI64ArrayAttr.get([int(v) for v in value])
    if kind == tuple[float, ...]:
        return ir.DenseF64ArrayAttr.get([float(v) for v in value])
    if kind == tuple[str, ...]:
        return ir.ArrayAttr.get([ir.StringAttr.get(v) for v in value])
    if kind is Tensor:
        return ir.TypeAttr.get(type_of(value))
    if kind == Array:
        return _elements(value)
    raise TypeError(f"no attribute spelling for field type {kind}")


def _elements(array: Array) -> ir.Attribute:
    tensor = Tensor.of(array)
    if is_string(tensor.dtype):
        return string_elements(array, type_of(tensor))
    array = np.ascontiguousarray(array).reshape(array.shape)
    if _is_foreign(tensor):
        bits = array.view(np.uint16 if tensor.dtype == "bf16" else np.uint8)
        element = ir.Type.parse(tensor.dtype)
        return ir.DenseElementsAttr.get(bits, type=element, shape=list(array.shape))
    return ir.DenseElementsAttr.get(array, type=type_of(tensor))


def read_attribute(operation: ir.Operation, name: str) -> ir.Attribute | None:
    """Return an attribute of an operation, or None where it has none of the name.

    Raises Invalid for a location, which the bindings refuse.
    """
    attributes = operation.attributes
    if name not in attributes:
        return None
    try:
        return attributes[name]
    except TypeError:
        raise Invalid(f"attribute '{name}' is a location, must be something else") from None


def from_attribute(attribute: ir.Attribute, kind: Any) -> Any:
    """Convert an attribute to the Python value of a field; raise Invalid when it does not fit."""
    try:
        return _from_attribute(attribute, kind)
    except (TypeError, ValueError, AttributeError, Invalid):
        raise Invalid(f"{attribute}, must be {SPELLING[kind]}") from None


def _from_attribute(attribute: ir.Attribute, kind: Any) -> Any:
    if kind is int and isinstance(attribute, ir.StringAttr):
        return _symbolic_sizes([attribute])[0]
    if kind == tuple[int, ...] and isinstance(attribute, ir.ArrayAttr):
        return _symbolic_sizes(attribute)
    if kind in (bool, int, float, str):
        value = attribute.value
        if type(value) is not kind:
            raise TypeError
        return value
    if kind in (tuple[int, ...], tuple[float, ...]):
        expected = ir.DenseI64ArrayAttr if kind == tuple[int, ...] else ir.DenseF64ArrayAttr
        if not isinstance(attribute, expected):
            raise TypeError
        return read_once(_numbers, attribute)
    if kind == tuple[str, ...]:
        return tuple(_from_attribute(item, str) for item in attribute)
    if kind is Tensor:
        return tensor_of(attribute.value)
    return _array(attribute)


def _numbers(attribute: ir.Attribute) -> tuple[Any, ...]:
    return tuple(attribute)


def _symbolic(attribute: ir.Attribute) -> Size:
    return symbol_table(attribute.context).parse(_from_attribute(attribute, str))


def _symbolic_sizes(attributes: Iterable[ir.Attribute]) -> Shape:
    sizes = tuple(map(_symbolic, attributes))
    if not any(map(is_symbolic, sizes)):
        raise TypeError  # ints have one spelling
    return sizes


def _array(attribute: ir.Attribute) -> Array:
    tensor = tensor_of(attribute.type)
    if is_string(tensor.dtype):
        return strings_of(attribute, tensor.shape)
    if _is_foreign(tensor):
        return _foreign_array(attribute, tensor)
    array = np.asarray(typing.cast(Any, attribute))
    return array.astype(numpy_dtype(tensor.dtype), copy=False)


def _is_foreign(tensor: Tensor) -> bool:
    """Return whether numpy lacks the element type, so that the bindings do not take or give it."""
    return tensor.dtype == "bf16" or is_narrow(tensor.dtype)


def _foreign_array(attribute: ir.Attribute, tensor: Tensor) -> Array:
    """Read the text of an attribute: the bindings do not export its elements."""
    text = str(attribute).partition("dense<")[2].rpartition("> :")[0]
    dtype = numpy_dtype(tensor.dtype)
    if text.startswith('"0x'):
        return np.resize(np.frombuffer(bytes.fromhex(text[3:-1]), dtype), tensor.shape)
    numbers = re.findall(r"[^\[\], ]+", text)  # decimal, or the bits in hexadecimal
    bits = [int(n, 16) if n.startswith("0x") else _bits_of(n, dtype) for n in numbers]
    kind = np.uint16 if dtype.itemsize == 2 else np.uint8
    return np.resize(np.array(bits, kind).view(dtype), tensor.shape)  # repeats a splat


def _bits_of(decimal: str, dtype: "np.dtype[Any]") -> int:
    number = np.array(float(decimal)).astype(dtype)
    return int(number.view(np.uint16 if dtype.itemsize == 2 else np.uint8))
