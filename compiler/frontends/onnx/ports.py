"""The inputs and outputs of a session for the sequences and optionals of a model.

A sequence `s` of two tensors is `s[0]` and `s[1]`. How many an input has is bound like a size:
`shapes={'s': 2}`. An input that is an optional of a tensor is that tensor; an output that is an
empty optional is nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx

from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Array, Bindings
from .element_types import element_type
from .items import Item, TensorList


def tensor_inputs(
    inputs: Sequence[onnx.ValueInfoProto], shapes: Bindings
) -> tuple[list[onnx.ValueInfoProto], Bindings]:
    """Return the tensors that a model's inputs are, and the bindings that are of tensors.

    Raises CompileError for a sequence whose length is not bound.
    """
    found: list[onnx.ValueInfoProto] = []
    lists: set[str] = set()
    faults: list[Diagnostic] = []
    for value in inputs:
        kind = _present(value.type)
        if kind.WhichOneof("value") != "sequence_type":
            found.append(onnx.ValueInfoProto(name=value.name, type=kind))
            continue
        lists.add(value.name)
        count = shapes.get(value.name)
        if not isinstance(count, int) or count < 0:
            note = f"bind its length: shapes={{'{value.name}': …}}, or --shape {value.name}=…"
            message = "input is a sequence of unknown length"
            faults.append(Diagnostic(value.name, message, (note,), (value.name,)))
            continue
        element = kind.sequence_type.elem_type
        names = (_element(value.name, number) for number in range(count))
        found += (onnx.ValueInfoProto(name=name, type=element) for name in names)
    if faults:
        raise CompileError(faults)
    return found, {name: size for name, size in shapes.items() if name not in lists}


def input_lists(
    inputs: Sequence[onnx.ValueInfoProto], values: Mapping[str, Item | None]
) -> dict[str, Item]:
    """Return the inputs of a model that are sequences, given the values of their tensors."""
    found: dict[str, Item] = {}
    for value in inputs:
        kind = _present(value.type)
        if kind.WhichOneof("value") != "sequence_type":
            continue
        tensors: list[ir.Value] = []
        while isinstance(tensor := values.get(_element(value.name, len(tensors))), ir.Value):
            tensors.append(tensor)
        dtype = element_type(kind.sequence_type.elem_type.tensor_type.elem_type)
        found[value.name] = TensorList(tuple(tensors), dtype)
    return found


def output_ports(name: str, item: Item) -> Iterator[tuple[str, ir.Value]]:
    """Yield the outputs of a session that an output of a model is, by their names."""
    if isinstance(item, TensorList):
        yield from ((_element(name, i), value) for i, value in enumerate(item.tensors))
    elif isinstance(item, ir.Value):
        yield name, item


def spread_inputs(feeds: Mapping[str, Any]) -> tuple[dict[str, Array], dict[str, int]]:
    """Return what a session takes for what a model takes, and the lengths of its sequences."""
    arrays: dict[str, Array] = {}
    lengths: dict[str, int] = {}
    for name, value in feeds.items():
        if not isinstance(value, list):
            arrays[name] = np.asarray(value)
            continue
        elements = cast("list[Any]", value)
        lengths[name] = len(elements)
        arrays |= {_element(name, i): np.asarray(each) for i, each in enumerate(elements)}
    return arrays, lengths


def gathered_outputs(graph: onnx.GraphProto, results: Mapping[str, Array]) -> list[Any]:
    """Return what a model puts out for what a session does: sequences are lists."""
    gathered: list[Any] = []
    for value in graph.output:
        if value.name in results:
            gathered.append(results[value.name])
            continue
        elements: list[Array] = []
        while (name := _element(value.name, len(elements))) in results:
            elements.append(results[name])
        gathered.append(elements)
    return gathered


def _present(declared: onnx.TypeProto) -> onnx.TypeProto:
    """Return the type of an input; an optional one is there."""
    is_optional = declared.WhichOneof("value") == "optional_type"
    return declared.optional_type.elem_type if is_optional else declared


def _element(name: str, number: int) -> str:
    return f"{name}[{number}]"
