"""What an accelerator takes of ops on tensors: what fits the fields of the packets for them."""

from collections.abc import Iterable, Iterator
from typing import cast

from ...dialects import dla
from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import Invalid
from ...dialects.core.mlir import ir
from ...dialects.dla.dialect import TensorOp
from .core.description import Description
from .core.fields import Value
from .layout import Layout

_PAIRS = {
    "kernel": ("kernel_rows", "kernel_columns"),
    "strides": ("stride_rows", "stride_columns"),
    "dilations": ("dilation_rows", "dilation_columns"),
    "pads": ("pad_top", "pad_left"),
    "start": ("start_rows", "start_columns"),
    "step": ("step_rows", "step_columns"),
}
"""The fields that hold the first two numbers of an attribute."""


def tensor_refusal(op: TensorOp, description: Description) -> str | None:
    """Say why an accelerator does not take an op, however it is tiled, or None when it does."""
    name = description.name
    if op.dialect.target not in ("", name):
        return f"{name} has no op {op.op_name}, which is of '{op.dialect.target}' alone"
    if not op.packet:
        return None
    rounding = op.attributes.get("rounding", description.rounding)
    if rounding != description.rounding:
        return f"{name} rounds {description.rounding}, not {rounding}"
    layout = Layout(description)
    return (
        field_refusal(description, op.packet, _values(op))
        or field_refusal(description, "load", _strides("source", _images(op), layout))
        or field_refusal(description, "store", _strides("destination", op.results, layout))
    )


def field_refusal(
    description: Description, packet: str, values: Iterable[tuple[str, Value]]
) -> str | None:
    """Say which of some values is beyond the limits of a packet's field, or beyond its bits."""
    if packet not in description.packets:
        return f"{description.name} has no packet '{packet}'"
    try:
        for field, value in values:
            _check(description, packet, field, value)
    except Invalid as refused:
        return f"{description.name}: {refused}"
    return None


def _images(op: TensorOp) -> list[ir.Value]:
    """List the operands that may be images."""
    return [op.x] if isinstance(op, dla.Conv) else list(op.operation.operands)


def _strides(name: str, values: Iterable[ir.Value], layout: Layout) -> Iterator[tuple[str, Value]]:
    """Yield how far the rows and the pixels of images are apart in dram."""
    for tensor in (tensor_of(value.type) for value in values):
        if tensor.dtype == "i8" and tensor.rank == 4:
            pixel = layout.padded(tensor.shape[3])
            yield f"{name}_pixel", pixel
            yield f"{name}_row", pixel * tensor.shape[2]


def _values(op: TensorOp) -> Iterator[tuple[str, Value]]:
    """Yield what fields are to hold; those of the same name as an attribute hold it."""
    if isinstance(op, dla.Conv):
        yield from zip(_PAIRS["kernel"], tensor_of(op.w.type).shape, strict=False)
    for name, value in op.attributes.items():
        if name in _PAIRS:
            yield from zip(_PAIRS[name], value, strict=False)
        else:
            listed = cast("tuple[Value, ...]", value if isinstance(value, tuple) else (value,))
            yield from ((name, each) for each in listed)


def _check(description: Description, packet: str, name: str, value: Value) -> None:
    """Raise Invalid for a value beyond the limits of a field, or beyond its bits."""
    description.check(packet, {name: value})
    for field in description.packets[packet].fields:
        if field.name == name:
            field.pack(value)
    if name.endswith("multiplier") and isinstance(value, int):
        bits = description.multiplier_bits
        if value >> bits:
            raise Invalid(f"multiplier is {value}, must have at most {bits} bits")
