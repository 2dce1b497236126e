"""The inputs and outputs of a session for a map `m`: `m.keys` and `m.values`, lists of one length.

The length is the symbol `m.size`; keys may be in any order.
"""

from collections.abc import Iterator, Mapping

import onnx

from ....dialects.core.mlir import ir
from .items import Item, TensorMap


def map_inputs(value: onnx.ValueInfoProto) -> list[onnx.ValueInfoProto]:
    """Return what a session takes for a map."""
    kind, name = value.type.map_type, value.name
    codes = kind.key_type, kind.value_type.tensor_type.elem_type
    size = (f"{name}.size",)
    tensor = onnx.helper.make_tensor_value_info
    return [tensor(port, code, size) for port, code in zip(_ports(name), codes, strict=True)]


def map_input(name: str, values: Mapping[str, Item | None]) -> TensorMap:
    """Return a map that the inputs of a session are, given their values."""
    keys, elements = (values[port] for port in _ports(name))
    assert isinstance(keys, ir.Value)
    assert isinstance(elements, ir.Value)
    return TensorMap(keys, elements)


def map_outputs(name: str, item: TensorMap) -> Iterator[tuple[str, ir.Value]]:
    """Yield the outputs of a session that a map is, by their names."""
    yield from zip(_ports(name), (item.keys, item.values), strict=True)


def _ports(name: str) -> tuple[str, str]:
    return f"{name}.keys", f"{name}.values"
