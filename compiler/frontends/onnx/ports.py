"""The inputs and outputs of a session for the sequences, maps and optionals of a model.

A sequence `s` of two tensors is `s[0]` and `s[1]`. How many an input has is bound like a size:
`shapes={'s': 2}`; what a sequence is whose length a run decides, `sequences/joined_ports.py` says,
and `sequences/ragged_ports.py` for tensors of any shapes; what a map is, `map_ports.py`.

An input that is an optional is its element, unless it is fixed to nothing:
`constants={'o': np.array(None)}`. An output that is an empty optional is no output. Where a run
finds whether an output `o` has an element, `o.has_element` says so; without one, what else `o` is
has no meaning.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import onnx

from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.symbols import Range
from ....dialects.core.tensor import Array, Bindings
from ..core.main_function import MainFunction
from ..core.sizes.found_sizes import FoundSizes
from .element_types import element_type
from .inputs import declared_input, model_inputs
from .items import (
    EmptyOptional,
    FoundOptional,
    Item,
    JoinedSequence,
    RaggedSequence,
    TensorList,
    TensorMap,
)
from .map_ports import map_input, map_inputs, map_outputs
from .sequences.joined_ports import (
    join_arrays,
    joined_input,
    joined_inputs,
    joined_outputs,
    split_arrays,
)
from .sequences.ragged_ports import ragged_outputs


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

    Raises CompileError for a sequence whose length must be bound, and is not.
    """
    found: list[onnx.ValueInfoProto] = []
    lists: set[str] = set()
    ranges: dict[str, Range] = {}
    faults: list[Diagnostic] = []
    for value in inputs:
        kind = _present(value.type)
        if kind.WhichOneof("value") == "map_type":
            found += map_inputs(onnx.ValueInfoProto(name=value.name, type=kind))
            continue
        if kind.WhichOneof("value") != "sequence_type":
            found.append(onnx.ValueInfoProto(name=value.name, type=kind))
            continue
        lists.add(value.name)
        ports = _list_inputs(_element_of(value), shapes.get(value.name))
        if ports is None:
            fault = f"input is a sequence, its length is bound to {shapes[value.name]}"
            faults.append(Diagnostic(value.name, f"{fault}, must be an integer of at least 0"))
            continue
        found += ports
        if value.name not in shapes:
            ranges |= _any_length(ports)
    if faults:
        raise CompileError(faults)
    bound = {name: size for name, size in shapes.items() if name not in lists}
    return found, {**ranges, **bound}


def _any_length(ports: Sequence[onnx.ValueInfoProto]) -> dict[str, Range]:
    """Return the ranges of sizes without names: a sequence may have no tensors, or no elements."""
    return {
        axis.name: Range(0) for port in ports for axis in declared_input(port).axes if not axis.size
    }


def _list_inputs(
    element: onnx.ValueInfoProto, count: object
) -> Sequence[onnx.ValueInfoProto] | None:
    """Return the tensors that a sequence is; None for a count that is none."""
    if count is None:
        return joined_inputs(element)
    if not isinstance(count, int) or count < 0:
        return None
    names = (_element(element.name, number) for number in range(count))
    return [onnx.ValueInfoProto(name=name, type=element.type) for name in names]


def has_sequences(graph: onnx.GraphProto) -> bool:
    """Return whether inputs are sequences: what they contain may not be what a model declares."""
    return any(_present(value.type).WhichOneof("value") == "sequence_type" for value in graph.input)


def grouped_inputs(
    inputs: Sequence[onnx.ValueInfoProto], values: Mapping[str, Item | None], main: MainFunction
) -> dict[str, Item]:
    """Return the inputs that are sequences and maps, given the values of their tensors."""
    found: dict[str, Item] = {}
    for value in inputs:
        kind = _present(value.type)
        if kind.WhichOneof("value") == "map_type":
            found[value.name] = map_input(value.name, values)
            continue
        if kind.WhichOneof("value") != "sequence_type":
            continue
        with main.checks_of(value.name, "input"):
            joined = joined_input(value.name, values, FoundSizes(main))
        if joined is not None:
            found[value.name] = joined
            continue
        tensors: list[ir.Value] = []
        while isinstance(tensor := values.get(_element(value.name, len(tensors))), ir.Value):
            tensors.append(tensor)
        dtype = element_type(kind.sequence_type.elem_type.tensor_type.elem_type)
        found[value.name] = TensorList(tuple(tensors), dtype)
    return found


def output_ports(name: str, item: Item) -> Iterator[tuple[str, ir.Value]]:
    """Yield the outputs of a session that an output of a model is, by their names."""
    if isinstance(item, FoundOptional):
        yield _has_element(name), item.has_element
        yield from output_ports(name, item.element)
    elif isinstance(item, TensorList):
        yield from ((_element(name, i), value) for i, value in enumerate(item.tensors))
    elif isinstance(item, JoinedSequence):
        yield from joined_outputs(name, item)
    elif isinstance(item, RaggedSequence):
        yield from ragged_outputs(name, item)
    elif isinstance(item, TensorMap):
        yield from map_outputs(name, item)
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


def spread_inputs(
    graph: onnx.GraphProto, feeds: Sequence[Any], ports: Collection[str] = ()
) -> Spread:
    """Divide what a model takes: a sequence is a list, an empty optional is None.

    `ports` are the inputs of a session, where there is one.
    """
    spread = Spread({}, {}, {})
    for declared, value in zip(model_inputs(graph), feeds, strict=True):
        name = declared.name
        if isinstance(value, list):
            elements = [np.asarray(each) for each in cast("list[Any]", value)]
            joined = join_arrays(_element_of(declared), elements, ports)
            if joined is not None:
                spread.arrays.update(joined)
                continue
            spread.lengths[name] = len(elements)
            spread.arrays.update((_element(name, i), each) for i, each in enumerate(elements))
        elif value is None:
            spread.nothing[name] = np.array(None)
        else:
            spread.arrays[name] = np.asarray(value)
    return spread


def gathered_outputs(graph: onnx.GraphProto, results: Mapping[str, Array]) -> list[Any]:
    """Return what a model puts out for what a session does: sequences are lists."""
    gathered: list[Any] = []
    for value in graph.output:
        if not results.get(_has_element(value.name), True):
            gathered.append(None)
            continue
        if value.name in results:
            gathered.append(results[value.name])
            continue
        split = split_arrays(value.name, results)
        if split is not None:
            gathered.append(split)
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


def _element_of(sequence: onnx.ValueInfoProto) -> onnx.ValueInfoProto:
    """Return the type of the elements of a sequence, by the name of the sequence."""
    kind = _present(sequence.type).sequence_type.elem_type
    return onnx.ValueInfoProto(name=sequence.name, type=kind)


def _has_element(name: str) -> str:
    return f"{name}.has_element"


def _element(name: str, number: int) -> str:
    return f"{name}[{number}]"
