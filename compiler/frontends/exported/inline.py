"""Put the nodes of graphs that are only called in the place of the call. No MLIR.

`torch.no_grad` makes such graphs: gradients are none of our business.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from .graph import Graph, Program, ProgramNode, Reference, TensorType

CALL = "higher_order::wrap_with_set_grad_enabled"
"""The operator that calls a graph: it takes a switch, the graph, and the operands."""

Types = dict[str, TensorType]
Values = dict[str, Any]


def inlined(program: Program) -> Program:
    """Return a program without calls of graphs; one that has none is returned as it is."""
    if not _has_calls(program.nodes):
        return program
    nodes, types, values = _inlined(program.nodes, program.types)
    outputs = [replace(each, value=renamed(each.value, values)) for each in program.outputs]
    return replace(program, nodes=nodes, types=types, outputs=outputs)


def renamed(given: Any, values: Mapping[str, Any]) -> Any:
    """Return arguments with what their values are called otherwise."""
    if isinstance(given, Reference):
        return values.get(given.name, given)
    if isinstance(given, list):
        return [renamed(each, values) for each in cast("list[Any]", given)]
    return given


def _has_calls(nodes: Sequence[ProgramNode]) -> bool:
    return any(
        node.type == CALL
        or any(isinstance(x, Graph) and _has_calls(x.nodes) for x in node.arguments.values())
        for node in nodes
    )


def _inlined(
    nodes: Sequence[ProgramNode], types: Mapping[str, TensorType]
) -> tuple[list[ProgramNode], Types, Values]:
    """Return nodes and types without calls, and what the results of calls are."""
    made: list[ProgramNode] = []
    all_types, values = dict(types), Values()
    for node in nodes:
        arguments = {key: renamed(each, values) for key, each in node.arguments.items()}
        if node.type != CALL:
            graphs = {k: _without_calls(g) for k, g in arguments.items() if isinstance(g, Graph)}
            made.append(replace(node, arguments=arguments | graphs))
            continue
        _, graph, *operands = arguments.values()
        inner, inner_types, results = _called(node.name, graph, operands)
        made += inner
        all_types |= inner_types
        names = [name for result in node.results for name in result.names]
        values |= dict(zip(names, results, strict=False))
    return made, all_types, values


def _without_calls(graph: Graph) -> Graph:
    nodes, types, values = _inlined(graph.nodes, graph.types)
    return Graph(graph.inputs, renamed(graph.outputs, values), nodes, types)


def _called(
    name: str, graph: Graph, operands: Sequence[Any]
) -> tuple[list[ProgramNode], Types, list[Any]]:
    """Return the nodes of a graph with names of their own, their types, and what it returns."""
    graph = _without_calls(graph)
    inputs = [each.name for each in graph.inputs]
    values: Values = dict(zip(inputs, operands, strict=True))
    nodes: list[ProgramNode] = []
    for node in graph.nodes:
        arguments = {key: renamed(each, values) for key, each in node.arguments.items()}
        own = {each: f"{name}.{each}" for result in node.results for each in result.names}
        results = [replace(r, names=tuple(map(own.__getitem__, r.names))) for r in node.results]
        values |= {each: Reference(new) for each, new in own.items()}
        values[node.name] = values.get(node.name, Reference(f"{name}.{node.name}"))
        called = f"{name}.{node.name}"
        nodes.append(replace(node, name=called, arguments=arguments, results=results))
    types = {f"{name}.{each}": type_ for each, type_ in graph.types.items() if each not in inputs}
    return nodes, types, renamed(graph.outputs, values)
