"""`ElementTypes`: the types of elements that a kernel reads and writes, and how they are stored."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from ..dialects.core.attributes import tensor_of
from ..dialects.core.op import Op
from ..dialects.core.tensor import COMPUTED, DTYPES, is_string
from ..runtime.slots import quote

_NO_FIELDS: Mapping[str, Collection[str]] = MappingProxyType({})
_NO_LAYOUTS: Mapping[str, str] = MappingProxyType({})

ROWS, ORDERED, BLOCKED, PACKED = "rows", "ordered", "blocked", "packed"
LAYOUTS = {
    ROWS: "as the model has it",
    ORDERED: "in any order of axes, which the target chooses: images with channels last",
    BLOCKED: "[N, C / lanes, spatial…, lanes]",
    PACKED: "constants in the order in which the kernel reads them",
}
"""How an operand or a result is stored, and what that means."""


@dataclass(frozen=True)
class ElementTypes:
    """Declare which element types and layouts the operands and results of a kernel may have.

    `every` are those of all fields, but for those in `fields`, by the name of an operand or result.
    An op says itself which of its fields must have equal types, and may take fewer: what it does
    not take reaches no target. Quantised types are those of a target that is for them. `layouts`
    has the fields that are not stored as the others are, which have the layout `others`:
    that of the table that they are in.
    """

    every: Collection[str]
    fields: Mapping[str, Collection[str]] = field(default_factory=lambda: _NO_FIELDS)
    layouts: Mapping[str, str] = field(default_factory=lambda: _NO_LAYOUTS)
    others: str = ROWS

    def of(self, name: str) -> Collection[str]:
        """Return the types of an operand or a result."""
        return self.fields.get(name, self.every)

    def layout(self, name: str) -> str:
        """Return how an operand or a result is stored, one of `LAYOUTS`."""
        return self.layouts.get(name, self.others)

    def overlaps(self, other: "ElementTypes", names: Collection[str]) -> bool:
        """Return whether fields of some names may have types and layouts of both declarations."""
        return all(
            self.layout(name) == other.layout(name) and {*self.of(name)} & {*other.of(name)}
            for name in names
        )

    @property
    def excluded(self) -> tuple[str, ...]:
        """List the types that ops compute with, but a kernel does not."""
        taken = {*self.every, *(dtype for types in self.fields.values() for dtype in types)}
        return tuple(dtype for dtype in COMPUTED if dtype not in taken)

    def undeclared(self, op: Op) -> str | None:
        """Return the element type of an op that is not declared, and what is; None without one."""
        if not self.fields:
            for value in (*op.operation.operands, *op.results):
                if fault := _fault(tensor_of(value.type).dtype, self.every):
                    return fault
            return None
        groups = [*zip(op.fields.operands, op.operand_groups(), strict=True)]
        groups += [*zip(op.fields.results, op.result_groups(), strict=True)]
        for spec, group in groups:
            for value in cast("list[Any]", group if isinstance(group, list) else [group]):
                if value is None:
                    continue
                if fault := _fault(tensor_of(value.type).dtype, self.of(spec.name)):
                    return f"{fault} for '{spec.name}'"
        return None

    def check(self, cls: type[Op]) -> None:
        """Raise TypeError for a field that an op does not have, and for a type that nobody has."""
        known = [each.name for each in (*cls.fields.operands, *cls.fields.results)]
        if unknown := [name for name in (*self.fields, *self.layouts) if name not in known]:
            raise TypeError(f"{cls.op_name} has no {quote(unknown)}, it has {quote(known)}")
        for name in (*self.every, *(t for types in self.fields.values() for t in types)):
            if name not in DTYPES:
                raise TypeError(f"{cls.op_name} declares '{name}', which is no element type")
        for name in (*self.layouts.values(), self.others):
            if name not in LAYOUTS:
                raise TypeError(f"{cls.op_name} declares '{name}', which is no layout")


def _fault(dtype: str, declared: Collection[str]) -> str | None:
    if dtype in declared or DTYPES[dtype].kind == "quantized":
        return None
    return dtype


STORED = tuple(name for name in DTYPES if not is_string(name))
"""All types but text: those that are computed with, and those that are cast to and from others."""

NUMBERS = tuple(name for name in COMPUTED if name != "i1")
"""The types that have sums and products."""

COMPUTES = ElementTypes(COMPUTED)
"""The declaration of kernels that take any type that ops compute with."""

MOVES = ElementTypes(STORED)
"""The declaration of kernels that move elements as they are stored, or cast them."""

SETS = {"stored": STORED, "computed": COMPUTED, "numbers": NUMBERS}
"""Sets of types by the names that reports have for them."""
