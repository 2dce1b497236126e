"""Conversion between MLIR attributes and the plain Python values of op fields."""

import re
import typing
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from .errors import Invalid, Unsupported
from .mlir import ir
from .quantized import canonical, check_scales, is_quantized
from .tensor import DTYPES, Array, Tensor, numpy_dtype, size_fault

SPELLING: dict[Any, str] = {
    bool: "a bool",
    int: "an i64 integer",
    float: "an f64 float",
    str: "a string",
    tuple[int, ...]: "an array<i64>",
    tuple[float, ...]: "an array<f64>",
    tuple[str, ...]: "an array of strings",
    Tensor: "a ranked, static tensor type",
    Array: "a dense elements attribute",
}
"""The Python types that an attribute field may have, and how a message names them."""


Found = TypeVar("Found")

_Readers = dict[Callable[[ir.Type], Any], dict[ir.Type, Any]]
_READ: ContextVar[_Readers | None] = ContextVar("types read", default=None)


@contextmanager
def types_read_once() -> Generator[None]:
    """Let `read_once` read each type once in the block: its text may have thousands of scales.

    The outermost of nested blocks drops the values read, which keep contexts alive.
    """
    if _READ.get() is not None:
        yield
        return
    token = _READ.set({})
    try:
        yield
    finally:
        _READ.reset(token)


def read_once(read: Callable[[ir.Type], Found], type_: ir.Type) -> Found:
    """Return the value that a function reads of a type; an error is raised each time."""
    readers = _READ.get()
    if readers is None:
        return read(type_)
    known = readers.setdefault(read, {})
    found = known.get(type_)
    if found is None:
        found = known[type_] = read(type_)
    return found


def tensor_of(type_: ir.Type) -> Tensor:
    """Return the plain type of a ranked, static tensor type, in any order of its axes in memory.

    Raises Invalid for other types, for invalid orders, and for sizes beyond any memory.
    """
    return read_once(_read, type_)


def _read(type_: ir.Type) -> Tensor:
    if not isinstance(type_, ir.RankedTensorType):
        raise Invalid(f"operand or result has type {type_}, must be a ranked tensor")
    if not type_.has_static_shape:
        raise Invalid(f"{type_} has dynamic dimensions, bind them first")
    dtype = str(type_.element_type)
    if is_quantized(dtype):
        dtype = canonical(dtype)
        check_scales(type_.shape, dtype)
    elif dtype not in DTYPES:
        raise Invalid(f"{type_} has element type {dtype}, must be one of {', '.join(DTYPES)}")
    if type_.encoding is not None:
        order_of(type_)
    tensor = Tensor(tuple(type_.shape), dtype)
    if fault := size_fault(tensor):
        raise Invalid(f"needs {fault}")
    return tensor


def order_of(type_: ir.Type) -> tuple[int, ...]:
    """Return the order of the axes of a tensor type in memory, outermost first.

    A type without an encoding is row-major. Raises Invalid for an encoding that is no order.
    """
    assert isinstance(type_, ir.RankedTensorType)
    plain = tuple(range(type_.rank))
    if type_.encoding is None:
        return plain
    try:
        order = tuple(axis.value for axis in type_.encoding)
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
    if order in ((), tuple(range(tensor.rank))):
        return ir.RankedTensorType.get(tensor.shape, element)
    i64 = ir.IntegerType.get_signless(64)
    encoding = ir.ArrayAttr.get([ir.IntegerAttr.get(i64, axis) for axis in order])
    return ir.RankedTensorType.get(tensor.shape, element, encoding)


def to_attribute(value: Any, kind: Any) -> ir.Attribute:
    """Convert a field's Python value to an attribute of the current context."""
    if kind is bool:
        return ir.BoolAttr.get(bool(value))
    if kind is int:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(value))
    if kind is float:
        return ir.FloatAttr.get_f64(float(value))
    if kind is str:
        return ir.StringAttr.get(value)
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
    array = np.ascontiguousarray(array).reshape(array.shape)
    if tensor.dtype == "bf16":
        return ir.DenseElementsAttr.get(
            array.view(np.uint16), type=ir.Type.parse("bf16"), shape=list(array.shape)
        )
    return ir.DenseElementsAttr.get(array, type=type_of(tensor))


def read_attribute(operation: ir.Operation, name: str) -> ir.Attribute:
    """Return an attribute of an operation; Invalid for a location, which the bindings refuse."""
    try:
        return operation.attributes[name]
    except TypeError:
        raise Invalid(f"attribute '{name}' is a location, must be something else") from None


def from_attribute(attribute: ir.Attribute, kind: Any) -> Any:
    """Convert an attribute to the Python value of a field; raise Invalid when it does not fit."""
    try:
        return _from_attribute(attribute, kind)
    except (TypeError, ValueError, AttributeError, Invalid):
        raise Invalid(f"{attribute}, must be {SPELLING[kind]}") from None


def _from_attribute(attribute: ir.Attribute, kind: Any) -> Any:
    if kind in (bool, int, float, str):
        value = attribute.value
        if type(value) is not kind:
            raise TypeError
        return value
    if kind in (tuple[int, ...], tuple[float, ...]):
        expected = ir.DenseI64ArrayAttr if kind == tuple[int, ...] else ir.DenseF64ArrayAttr
        if not isinstance(attribute, expected):
            raise TypeError
        return tuple(attribute)
    if kind == tuple[str, ...]:
        return tuple(_from_attribute(item, str) for item in attribute)
    if kind is Tensor:
        return tensor_of(attribute.value)
    return _array(attribute)


def _array(attribute: ir.Attribute) -> Array:
    tensor = tensor_of(attribute.type)
    if tensor.dtype == "bf16":
        return _bf16_array(attribute, tensor)
    array = np.asarray(typing.cast(Any, attribute))
    return array.astype(numpy_dtype(tensor.dtype), copy=False)


def _bf16_array(attribute: ir.Attribute, tensor: Tensor) -> Array:
    """Read the text of a bf16 attribute: the bindings do not export its elements."""
    text = str(attribute).partition("dense<")[2].rpartition("> :")[0]
    dtype = numpy_dtype("bf16")
    if text.startswith('"0x'):
        return np.resize(np.frombuffer(bytes.fromhex(text[3:-1]), dtype), tensor.shape)
    numbers = re.findall(r"[^\[\], ]+", text)  # decimal, or the bits in hexadecimal
    bits = [int(n, 16) if n.startswith("0x") else _bf16_bits(n, dtype) for n in numbers]
    return np.resize(np.array(bits, np.uint16).view(dtype), tensor.shape)  # repeats a splat


def _bf16_bits(decimal: str, dtype: "np.dtype[Any]") -> int:
    return int(np.array(float(decimal)).astype(dtype).view(np.uint16))
