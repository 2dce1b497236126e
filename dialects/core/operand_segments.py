"""How many values each field of an op has, where that differs from op to op."""

from collections.abc import Sequence
from typing import Any

from .attributes import read_attribute
from .errors import Invalid
from .fields import FieldSpec
from .mlir import ir

SEGMENTS = "operandSegmentSizes"
"""The attribute that counts the values of each operand field, where these can differ."""


def needs_segments(groups: Sequence[FieldSpec]) -> bool:
    """Report whether the number of operands alone does not tell the operands of each field."""
    return sum(group.arity != "one" for group in groups) > 1


def grouped_values(
    operation: ir.Operation, values: Sequence[ir.Value], groups: Sequence[FieldSpec], what: str
) -> list[Any]:
    """Divide operands or results among fields: a value, None, or a list of values for each.

    `what` says which they are. Raises Invalid where the operation has too few or too many.
    """
    if len(values) == len(groups) and all(group.arity == "one" for group in groups):
        return list(values)
    sizes = _segment_sizes(operation, len(values), groups, what)
    grouped: list[Any] = []
    start = 0
    for group, size in zip(groups, sizes, strict=True):
        part = [values[i] for i in range(start, start + size)]
        grouped.append(part if group.arity == "many" else part[0] if part else None)
        start += size
    return grouped


def _segment_sizes(
    operation: ir.Operation, count: int, groups: Sequence[FieldSpec], what: str
) -> list[int]:
    if needs_segments(groups):
        if SEGMENTS not in operation.attributes:
            raise Invalid(f"lacks attribute '{SEGMENTS}'")
        attribute = read_attribute(operation, SEGMENTS)
        if not isinstance(attribute, ir.DenseI32ArrayAttr):
            raise Invalid(f"attribute '{SEGMENTS}' is {attribute}, must be an array<i32>")
        sizes = list(attribute)
        if len(sizes) != len(groups):
            raise Invalid(f"{SEGMENTS} has {len(sizes)} entries, must have {len(groups)}")
    else:
        spare = count - sum(group.arity == "one" for group in groups)
        sizes = [1 if group.arity == "one" else spare for group in groups]
    fits = {"one": (1, 1), "optional": (0, 1), "many": (0, count)}
    least = sum(fits[group.arity][0] for group in groups)
    most = sum(fits[group.arity][1] for group in groups)
    bounds = [fits[group.arity] for group in groups]
    if sum(sizes) != count or any(
        not low <= size <= high for size, (low, high) in zip(sizes, bounds, strict=True)
    ):
        expected = str(least) if least == most else f"{least} to {most}"
        raise Invalid(f"has {count} {what}s, must have {expected}")
    return sizes
