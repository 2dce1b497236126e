"""Dimensions of the type system that other distributions add: properties of tensors in their types.

The types of values have shape, element type, and where it matters the order of axes; groups and
copies say in which memory a value is. A plugin adds a dimension by a subclass of `TypeDimension`;
types have its value in their encoding, beside what is there already:

    tensor<2x3xf32, {bank = "odd"}>

The dimension says nothing to passes that do not know it. Those that keep the type of a value keep
it; one that makes another type leaves it out, which stands for the default of the dimension.
"""

from collections.abc import Mapping
from typing import ClassVar

from .errors import CompileError, Invalid
from .mlir import ir
from .tensor import Tensor

OWN = ("order", "sizes")
"""The keys of encodings that are no dimensions of plugins."""

_KNOWN: dict[str, type["TypeDimension"]] = {}


class TypeDimension:
    """Base of dimensions; a subclass exists as soon as it is defined, under its `name`."""

    name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        taken = _KNOWN.get(cls.name)
        if cls.name in OWN or (taken and taken.__qualname__ != cls.__qualname__):
            raise CompileError(f"there is a dimension of types called '{cls.name}' already")
        _KNOWN[cls.name] = cls

    @classmethod
    def check(cls, tensor: Tensor, value: str) -> None:
        """Raise Invalid for a value that tensors of this type cannot have."""
        raise NotImplementedError


def dimensions_of(type_: ir.Type) -> dict[str, str]:
    """Return the values of the dimensions that plugins added, by name, of a valid tensor type."""
    assert isinstance(type_, ir.RankedTensorType)
    encoding = type_.encoding
    found = {n.name: n.attr for n in encoding} if isinstance(encoding, ir.DictAttr) else {}
    return {n: a.value for n, a in found.items() if n not in OWN and isinstance(a, ir.StringAttr)}


def check_dimensions(type_: ir.Type, tensor: Tensor) -> None:
    """Raise Invalid unless plugins know all dimensions of a type and their values."""
    for name, value in dimensions_of(type_).items():
        _KNOWN[name].check(tensor, value)


def check_keys(type_: ir.Type, encoding: Mapping[str, ir.Attribute]) -> None:
    """Raise Invalid for a key of an encoding that is no dimension, or has a value of no string."""
    for name, attribute in encoding.items():
        if name in OWN:
            continue
        if name not in _KNOWN:
            allowed = ", ".join((*OWN, *sorted(_KNOWN)))
            raise Invalid(f"{type_} has key '{name}', must have some of {allowed}")
        if not isinstance(attribute, ir.StringAttr):
            raise Invalid(f"{type_} has {attribute} for '{name}', must have a string")


def with_dimension(type_: ir.Type, name: str, value: str | None) -> ir.Type:
    """Return a tensor type with another value of a dimension; None leaves it out.

    Raises CompileError for a dimension that no plugin adds.
    """
    assert isinstance(type_, ir.RankedTensorType)
    if name not in _KNOWN:
        raise CompileError(f"there is no dimension of types called '{name}': load its plugin")
    keys = encoded(type_)
    keys.pop(name, None)
    if value is not None:
        keys[name] = ir.StringAttr.get(value)
    unknown = ir.Location.unknown(type_.context)
    made = encoding_of(keys)
    return ir.RankedTensorType.get(list(type_.shape), type_.element_type, made, loc=unknown)


def encoded(type_: ir.RankedTensorType) -> dict[str, ir.Attribute]:
    """Return what the encoding of a type has, by key; Invalid for unknown keys."""
    found = type_.encoding
    if isinstance(found, ir.DictAttr):
        keys = {named.name: named.attr for named in found}
        if not keys:
            raise Invalid(f"{type_} has an empty encoding, must have none")
        if len(keys) == 1 and keys.keys() <= {*OWN}:
            (key,) = keys
            raise Invalid(f"{type_} has only the key '{key}', which must be left out")
        check_keys(type_, keys)
        return keys
    if found is None:
        return {}
    if isinstance(found, ir.ArrayAttr) and len(found) and isinstance(found[0], ir.StringAttr):
        return {"sizes": found}
    return {"order": found}


def encoding_of(keys: Mapping[str, ir.Attribute]) -> ir.Attribute | None:
    """Return the encoding of a type: order or sizes alone are not in a dictionary."""
    if len(keys) == 1 and keys.keys() <= {*OWN}:
        return next(iter(keys.values()))
    return ir.DictAttr.get(dict(keys)) if keys else None
