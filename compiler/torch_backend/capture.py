"""A graph of Dynamo as a program of torch.export, in which only tensors that change are inputs."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import fx

from ...dialects.core.errors import CompileError, Diagnostic
from ..frontends.exported.export import read_exported
from ..frontends.exported.graph import Port, Program, ProgramNode, Reference
from ..frontends.exported.torch_weights import torch_weights
from ..frontends.torch.aten import aten_rule
from .graph_inputs import GraphInputs, Number, placeholders, tensor_of

_NODE = "trivium.node"
"""The annotation of operators of a program with the node of the graph that they come from."""


@dataclass(frozen=True)
class Capture:
    """Hold a program for a compilation, and how its ports come from arguments and results.

    `inputs` are the arguments that it takes, `frozen` those that are constants of it. `mutated` are
    the arguments that are overwritten by the first results. `fixed` are the tensors and axes whose
    sizes torch.export has made numbers though they are symbols of Dynamo.
    """

    program: Program
    inputs: tuple[int, ...]
    frozen: tuple[int, ...]
    mutated: tuple[int, ...]
    fixed: tuple[tuple[int, int], ...]


def capture(
    module: fx.GraphModule,
    outputs: Sequence[fx.Node],
    inputs: GraphInputs,
    arguments: Sequence[Any],
    numbers: Mapping[int, Number],
    freezable: frozenset[int],
    *,
    symbolic: bool,
) -> Capture:
    """Export the graph of a module as it computes `outputs` of the arguments of a call.

    `numbers` are the values of the inputs that are numbers, `freezable` the weights that may become
    constants: all that the graph does not write. Sizes that are symbols of Dynamo are numbers
    unless `symbolic`. Raises what torch.export raises, and CompileError.
    """
    taken = inputs.taken
    axes = inputs.axes if symbolic else {}
    exported = _export(
        _of_tensors(module, outputs or [placeholders(module.graph)[taken[0]]], inputs, numbers),
        [tensor_of(arguments[index]) for index in taken],
        [axes.get(index, []) for index in taken],
    )
    program = read_exported(exported)
    _check_draws(program)
    names = [port.value.name for port in program.inputs if port.kind == "user_input"]
    index_of = dict(zip(names, taken, strict=True))
    mutated = [index_of[p.target] for p in program.outputs if p.kind == "user_input_mutation"]
    frozen = freezable.difference(mutated)
    return Capture(
        _with_weights(program, index_of, frozen, arguments),
        tuple(index for index in taken if index not in frozen),
        tuple(sorted(frozen)),
        tuple(mutated),
        tuple(
            (index_of[name], axis)
            for name in names
            for axis in inputs.axes.get(index_of[name], [])
            if isinstance(program.types[name].sizes[axis], int)
        ),
    )


def _check_draws(program: Program) -> None:
    """Raise CompileError for operators that draw numbers: a seed of torch is for those of torch."""
    faults = [
        Diagnostic(
            node.custom.get(_NODE, ""),
            f"'{node.type}' operator '{node.name}' draws random numbers, which torch seeds",
            (node.source,) if node.source else (),
        )
        for node in program.nodes
        if _draws(node)
    ]
    if faults:
        raise CompileError(faults)


def _draws(node: ProgramNode) -> bool:
    rule = aten_rule(node.type)
    in_inference = False in (node.arguments.get("train"), node.arguments.get("training"))
    return rule is not None and rule.random is not None and not in_inference


def node_at(place: str) -> str:
    """Return the name of the node of the graph that a diagnostic of its program is about."""
    return place.partition(".")[0]


def _of_tensors(
    module: fx.GraphModule,
    outputs: Sequence[fx.Node],
    inputs: GraphInputs,
    numbers: Mapping[int, Number],
) -> fx.GraphModule:
    """Return the module as a function of its tensors alone, with numbers as constants."""
    known: dict[fx.Node, fx.Node] = {}
    graph = fx.Graph()
    graph.graph_copy(module.graph, known)
    for node, copy in known.items():
        copy.meta["custom"] = {**copy.meta.get("custom", {}), _NODE: node.name}
    graph.output(tuple(known[node] for node in outputs))
    nodes = placeholders(graph)
    for index, (tensor, axis) in inputs.sizes.items():
        _replace_by_size(nodes[index], nodes[tensor], axis)
    for index in inputs.counts:
        _replace_by_size(nodes[index], nodes[index], 0)
    for index in inputs.operands:
        _replace_items(nodes[index], nodes[index])
    for index, number in numbers.items():
        _replace_items(nodes[index], number)
        nodes[index].replace_all_uses_with(cast("fx.Node", number))
    for index in (*inputs.sizes, *numbers):
        graph.erase_node(nodes[index])
    return fx.GraphModule(module, graph)


def _replace_by_size(node: fx.Node, tensor: fx.Node, axis: int) -> None:
    """Replace an input by the size of an axis of an input that is a tensor."""
    graph = node.graph
    with graph.inserting_after(placeholders(graph)[-1]):
        size = graph.call_function(torch.ops.aten.sym_size.int, (tensor, axis))
    node.replace_all_uses_with(size, delete_user_cb=lambda user: user is not size)


def _replace_items(node: fx.Node, number: Any) -> None:
    """Replace the item of an input that is a tensor without axes."""
    for user in list(node.users):
        if user.op == "call_method" and user.target == "item":
            user.replace_all_uses_with(number)
            user.graph.erase_node(user)


def _export(
    module: fx.GraphModule, examples: Sequence[torch.Tensor], axes: Sequence[Sequence[int]]
) -> Any:
    """Export a module for tensors of the types and sizes of the examples."""
    auto = torch.export.Dim.AUTO
    shapes = tuple(dict.fromkeys(each, auto) if each else None for each in axes)
    with torch.inference_mode(False), torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of what it does itself
        tensors = tuple(map(_like, examples))
        return torch.export.export(module, tensors, dynamic_shapes=shapes, strict=False)


def _like(example: torch.Tensor) -> torch.Tensor:
    """Return a tensor of which no element is ever touched."""
    return torch.empty_strided(example.shape, example.stride(), dtype=example.dtype)


def _with_weights(
    program: Program, index_of: Mapping[str, int], frozen: frozenset[int], arguments: Sequence[Any]
) -> Program:
    """Return a program with some inputs as weights, and the values that inputs get as results."""
    weights = torch_weights(
        {name: arguments[index] for name, index in index_of.items() if index in frozen}
    )
    return replace(
        program,
        nodes=[replace(node, path=node.custom.get(_NODE, "")) for node in program.nodes],
        inputs=[_as_weight(port, weights) for port in program.inputs],
        outputs=[
            replace(port, kind="user_output") if port.kind == "user_input_mutation" else port
            for port in program.outputs
        ],
        weights={**program.weights, **weights},
        output_names=[],
    )


def _as_weight(port: Port, weights: Mapping[str, Any]) -> Port:
    if isinstance(port.value, Reference) and port.value.name in weights:
        return Port("parameter", port.value, port.value.name)
    return port
