"""The inputs and outputs of a session for the sequences and optionals of a model.

A sequence `s` of two tensors is `s[0]` and `s[1]`. How many an input has is bound like a size:
`shapes={'s': 2}`. An input that is an optional is its element, unless it is fixed to nothing:
`constants={'o': np.array(None)}`. An output that is an empty optional is no output.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import onnx

from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Array, Bindings
from .element_types import element_type
from .items import EmptyOptional, Item, TensorList


def split_nothing(
    inputs: Sequence[onnx.ValueInfoProto], constants: Mapping[str, Array]
) -> tuple[list[onnx.ValueInfoProto], dict[str, Array], dict[str, Item]]:
    """Return the inputs and constants of a model that are something, and those that are nothing."""
    nothing: dict[str, Item] = {
        value.name: EmptyOptional()
        for value in inputs
        if value.type.WhichOneof("value") == "optional_type" and _is_none(constants, value.name)
    }
    present = [value for value in inputs if value.name not in nothing]
    return present, {n: a for n, a in constants.items() if n not in nothing}, nothing


def _is_none(constants: Mapping[str, Array], name: str) -> bool:
    array = constants.get(name)
    return array is not None and array.shape == () and array.tolist() is None


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


@dataclass(frozen=True)
class Spread:
    """Hold what a session takes for what a model takes, and what a model is compiled for.

    `lengths` are those of sequences, `nothing` fixes the optionals that have no element.
    """

    arrays: dict[str, Array]
    lengths: dict[str, int]
    nothing: dict[str, Array]


def spread_inputs(feeds: Mapping[str, Any]) -> Spread:
    """Divide what a model takes: a sequence is a list, an empty optional is None."""
    spread = Spread({}, {}, {})
    for name, value in feeds.items():
        if isinstance(value, list):
            elements = cast("list[Any]", value)
            spread.lengths[name] = len(elements)
            named = {_element(name, i): np.asarray(each) for i, each in enumerate(elements)}
            spread.arrays.update(named)
        elif value is None:
            spread.nothing[name] = np.array(None)
        else:
            spread.arrays[name] = np.asarray(value)
    return spread


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
