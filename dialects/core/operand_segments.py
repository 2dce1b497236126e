"""How many values each field of an op has, where that differs from op to op."""

import math
from collections.abc import Sequence
from typing import Any

from .attributes import read_attribute, read_once
from .errors import Invalid
from .fields import FieldSpecs
from .mlir import ir

SEGMENTS = "operandSegmentSizes"
"""The attribute that counts the values of each operand field, where these can differ."""


def grouped_values(
    operation: ir.Operation, values: Sequence[ir.Value], fields: FieldSpecs, what: str
) -> list[Any]:
    """Divide operands or results among fields: a value, None, or a list of values for each.

    `what` says which they are. Raises Invalid where the operation has too few or too many.
    """
    listed = list(values)
    if fields.needs_segments:
        return _grouped(listed, fields, _segment_sizes(operation, len(listed), fields, what))
    if not fields.least <= len(listed) <= fields.most:
        raise _wrong_count(len(listed), fields, what)
    varying = fields.varying
    if varying == len(fields):
        return listed
    end = varying + len(listed) - fields.least
    part = listed[varying:end]
    return [*listed[:varying], _group(part, fields[varying].arity), *listed[end:]]


def _grouped(values: list[ir.Value], fields: FieldSpecs, sizes: Sequence[int]) -> list[Any]:
    grouped: list[Any] = []
    start = 0
    for field, size in zip(fields, sizes, strict=True):
        grouped.append(_group(values[start : start + size], field.arity))
        start += size
    return grouped


def _group(part: list[ir.Value], arity: str) -> Any:
    return part if arity == "many" else part[0] if part else None


def _segment_sizes(
    operation: ir.Operation, count: int, fields: FieldSpecs, what: str
) -> tuple[int, ...]:
    attribute = read_attribute(operation, SEGMENTS)
    if attribute is None:
        raise Invalid(f"lacks attribute '{SEGMENTS}'")
    if not isinstance(attribute, ir.DenseI32ArrayAttr):
        raise Invalid(f"attribute '{SEGMENTS}' is {attribute}, must be an array<i32>")
    sizes = read_once(tuple, attribute)
    if len(sizes) != len(fields):
        raise Invalid(f"{SEGMENTS} has {len(sizes)} entries, must have {len(fields)}")
    limits = {"one": (1, 1), "optional": (0, 1), "many": (0, count)}
    fits = all(
        low <= size <= high
        for size, (low, high) in zip(sizes, (limits[f.arity] for f in fields), strict=True)
    )
    if sum(sizes) != count or not fits:
        raise _wrong_count(count, fields, what)
    return sizes


def _wrong_count(count: int, fields: FieldSpecs, what: str) -> Invalid:
    least, most = fields.least, fields.most
    expected = str(least) if least == most else f"{least} to {most}"
    if most == math.inf:
        expected = f"at least {least}"
    return Invalid(f"has {count} {what}s, must have {expected}")
