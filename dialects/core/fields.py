"""The fields of an op, read from the annotations of its class.

An annotation is the kind of a field:

    x: Operand                 b: Operand | None = None       xs: Sequence[Operand]
    y: Result                  ys: Sequence[Result]           body: Region
    strides: tuple[int, ...]   mode: str = "linear"           value: Array

Everything that is not an operand, result or region is an attribute, and must be one of the plain
Python types that `attributes` converts. A default makes an attribute optional in text and builder.
"""

import collections.abc
import inspect
import math
import types
import typing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .mlir import ir


class Operand(ir.Value if typing.TYPE_CHECKING else object):
    """Annotate a field that is an input value of the op."""


class Result(ir.Value if typing.TYPE_CHECKING else object):
    """Annotate a field that is an output value of the op."""


class Region(ir.Region if typing.TYPE_CHECKING else object):
    """Annotate a field that is a region of the op."""


_MISSING = object()


@dataclass(frozen=True)
class FieldSpec:
    """Describe one operand or result field: exactly one value, at most one, or any number."""

    name: str
    arity: str  # "one", "optional" or "many"


class FieldSpecs(tuple[FieldSpec, ...]):
    """The operand fields of an op, or its result fields, in order."""

    @cached_property
    def least(self) -> int:
        """The least number of values."""
        return sum(field.arity == "one" for field in self)

    @cached_property
    def most(self) -> float:
        """The greatest number of values."""
        return math.inf if any(field.arity == "many" for field in self) else len(self)

    @cached_property
    def needs_segments(self) -> bool:
        """Whether the number of values alone does not tell the values of each field."""
        return len(self) - self.least > 1

    @cached_property
    def varying(self) -> int:
        """The first field that may have another number of values than one, or the end."""
        return next((i for i, field in enumerate(self) if field.arity != "one"), len(self))


@dataclass(frozen=True)
class AttributeField:
    """Describe one attribute field: its Python type and its default, if it has one."""

    name: str
    type: Any
    default: Any = _MISSING

    @property
    def required(self) -> bool:
        return self.default is _MISSING


@dataclass(frozen=True)
class Fields:
    """List all fields of an op class, in the order of their declaration."""

    operands: FieldSpecs
    results: FieldSpecs
    attributes: tuple[AttributeField, ...]
    regions: tuple[str, ...]

    @staticmethod
    def of(op_class: type) -> "Fields":
        """Read the fields of an op class and its bases; the first base's fields come first."""
        hints: dict[str, Any] = {}
        for base in reversed(op_class.__mro__):
            hints |= inspect.get_annotations(base)
        operands: list[FieldSpec] = []
        results: list[FieldSpec] = []
        attributes: list[AttributeField] = []
        regions: list[str] = []
        for name, hint in hints.items():
            if typing.ClassVar in (hint, typing.get_origin(hint)) or name.startswith("_"):
                continue
            if arity := _arity(hint, Operand):
                operands.append(FieldSpec(name, arity))
            elif arity := _arity(hint, Result):
                results.append(FieldSpec(name, arity))
            elif hint is Region:
                regions.append(name)
            else:
                default = _default(op_class, name)
                attributes.append(AttributeField(name, hint, default))
        return Fields(FieldSpecs(operands), FieldSpecs(results), tuple(attributes), tuple(regions))


def _default(cls: type, name: str) -> Any:
    """Find a field's default; an accessor that a base class installed keeps the default."""
    value = getattr(cls, name, _MISSING)
    return value.default if isinstance(value, Accessor) else value


def _arity(hint: Any, kind: type) -> str | None:
    if hint is kind:
        return "one"
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is collections.abc.Sequence and arguments == (kind,):
        return "many"
    if isinstance(hint, types.UnionType) and set(arguments) == {kind, type(None)}:
        return "optional"
    return None


class Accessor(property):
    """Read a field of an op; remembers the attribute's default for subclasses."""

    default: Any = _MISSING
