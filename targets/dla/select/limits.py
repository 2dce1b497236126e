"""Limits of an accelerator on ops on tensors: values must fit the fields of packets."""

from collections.abc import Iterable, Iterator
from typing import cast

from ....dialects import dla
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from ....dialects.core.numerics.integers import PAIR_FIELDS
from ....dialects.dla.dialect import TensorOp
from ..core.description import Description
from ..core.fields import Value
from ..layout.memory_layout import MemoryLayout

SPLIT = PAIR_FIELDS.keys() - {"out"}
"""Attributes whose numbers are those of fields; results are tiled, so that `out` is not."""

MOVES = "copy"
"""The packet for ops that have none of their own, when they copy within SRAM."""


def tensor_refusal(op: TensorOp, description: Description) -> str | None:
    """Return why an accelerator cannot run an op, however it is tiled, or None."""
    name = description.name
    if op.dialect.target not in ("", name):
        return f"{name} has no op {op.op_name}, which is of '{op.dialect.target}' alone"
    if not op.packet:
        return _stride_refusal(op, description)
    rounding = op.attributes.get("rounding", description.rounding)
    if rounding != description.rounding:
        return f"{name} rounds {description.rounding}, not {rounding}"
    refusal = field_refusal(description, op.packet, _values(op))
    return refusal or _stride_refusal(op, description)


def field_refusal(
    description: Description, packet: str, values: Iterable[tuple[str, Value]]
) -> str | None:
    """Return which value exceeds a limit or the bits of its field, or None."""
    if packet not in description.packets:
        return f"{description.name} has no packet '{packet}'"
    try:
        for field, value in values:
            check_field(description, packet, field, value)
    except Invalid as refused:
        return f"{description.name}: {refused}"
    return None


def _stride_refusal(op: TensorOp, description: Description) -> str | None:
    """Return which packet cannot encode the strides of an op's images, or None.

    Strides in SRAM are bounded by its size, too.
    """
    layout, results = MemoryLayout(description), list(op.results)
    images, inside = _images(op), layout.capacity("sram")
    limited = [
        ("load", _strides("source", images, layout)),
        ("load", _strides("destination", images, layout, inside)),
        ("store", _strides("source", results, layout, inside)),
        ("store", _strides("destination", results, layout)),
        (op.packet or MOVES, _strides("source", images, layout, inside)),
        (op.packet or MOVES, _strides("other", images, layout, inside)),
        (op.packet or MOVES, _strides("destination", results, layout, inside)),
    ]
    found = (field_refusal(description, packet, values) for packet, values in limited)
    return next((refusal for refusal in found if refusal is not None), None)


def _images(op: TensorOp) -> list[ir.Value]:
    """List the operands that may be images."""
    return [op.x] if isinstance(op, dla.Conv) else list(op.operation.operands)


def _strides(
    name: str, values: Iterable[ir.Value], layout: MemoryLayout, most: int | None = None
) -> Iterator[tuple[str, Value]]:
    """Yield the largest strides of rows and pixels of images."""
    for tensor in (tensor_of(value.type) for value in values):
        if tensor.dtype == "i8" and tensor.rank == 4:
            pixel = layout.padded(tensor.shape[3])
            row = pixel * tensor.shape[2]
            yield f"{name}_pixel", pixel if most is None else min(pixel, most)
            yield f"{name}_row", row if most is None else min(row, most)


def _values(op: TensorOp) -> Iterator[tuple[str, Value]]:
    """Yield the values of fields: those of attributes, by name or as pairs."""
    if isinstance(op, dla.Conv):
        yield from zip(PAIR_FIELDS["kernel"], tensor_of(op.w.type).shape, strict=False)
    for name, value in op.attributes.items():
        if name in SPLIT:
            yield from zip(PAIR_FIELDS[name], value, strict=False)
        else:
            listed = cast("tuple[Value, ...]", value if isinstance(value, tuple) else (value,))
            yield from ((name, each) for each in listed)


def check_field(description: Description, packet: str, name: str, value: Value) -> None:
    """Raise Invalid for a value that exceeds the limits or the bits of a field."""
    description.check(packet, {name: value})
    for field in description.packets[packet].fields:
        if field.name == name:
            field.pack(value)
    if name.endswith("multiplier") and isinstance(value, int):
        bits = description.multiplier_bits
        if value >> bits:
            raise Invalid(f"multiplier is {value}, must have at most {bits} bits")
