"""The nodes of an ONNX graph: their names, what they use and define, and their order."""

import heapq
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import onnx

from ....dialects.core.errors import CompileError, Diagnostic

ONNX_DOMAIN = "ai.onnx"
"""The default domain by its long name; ONNX also writes it as nothing at all."""


class Named(NamedTuple):
    """Hold a node with the name that messages and locations give it."""

    name: str
    proto: onnx.NodeProto


def named_nodes(nodes: Sequence[onnx.NodeProto], prefix: str = "") -> list[Named]:
    """List nodes in the order of the file; one without a name is called `Conv#12`, by its index."""
    return [
        Named(prefix + (proto.name or f"{proto.op_type}#{index}"), proto)
        for index, proto in enumerate(nodes)
    ]


def nested_nodes(nodes: Sequence[Named]) -> Iterator[Named]:
    """Yield nodes, each before those of its subgraphs, whose names begin with its own."""
    for named in nodes:
        yield named
        for attribute, graph in subgraphs(named.proto):
            yield from nested_nodes(named_nodes(graph.node, f"{named.name}/{attribute}/"))


def check_graph(
    graph: onnx.GraphProto, prefix: str = "", around: Container[object] = frozenset()
) -> None:
    """Raise CompileError unless a graph, and those of its nodes, can be computed in some order.

    It lists all values that nothing defines, or that are defined twice, and nodes that form a
    cycle. A subgraph may use the values `around` it, by their names.
    """
    nodes = named_nodes(graph.node, prefix)
    makers, faults = _makers(graph, nodes)
    visible = _Visible(makers, around)
    faults += [
        Diagnostic(name, f"'{proto.op_type}' node uses value '{value}', which nothing defines")
        for name, proto in nodes
        for value in dict.fromkeys(filter(None, proto.input))
        if value not in visible
    ]
    faults += _output_faults(graph, visible)
    for name, proto in nodes:
        for attribute, inner in subgraphs(proto):
            try:
                check_graph(inner, f"{name}/{attribute}/", visible)
            except CompileError as error:
                faults += error.diagnostics
    if faults:
        raise CompileError(faults)
    needs = _needs(nodes, makers)
    order = topological_order(needs)
    if len(order) < len(nodes):
        raise CompileError([_cycle(nodes, needs, set(order))])


def ordered_nodes(graph: onnx.GraphProto, prefix: str = "") -> list[Named]:
    """List nodes in an order in which each follows those whose values it uses.

    That is the order of the file where it is such an order. The graph must be free of faults.
    """
    nodes = named_nodes(graph.node, prefix)
    makers, _ = _makers(graph, nodes)
    return [nodes[index] for index in topological_order(_needs(nodes, makers))]


@dataclass(frozen=True)
class _Visible:
    """The names that a graph may use: those that it defines, and those of graphs around it."""

    own: Container[object]
    around: Container[object]

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self.around


def _needs(nodes: Sequence[Named], makers: Mapping[str, int | None]) -> list[list[int]]:
    """Return for each node the indices of those whose values it, or a graph of it, uses."""
    used = [dict.fromkeys(uses(proto)) for _, proto in nodes]
    return [[n for value in values if (n := makers.get(value)) is not None] for values in used]


def operator_domain(proto: onnx.NodeProto) -> str:
    """Return the domain of a node's operator, in which "" is ONNX's own."""
    return "" if proto.domain == ONNX_DOMAIN else proto.domain


def subgraphs(proto: onnx.NodeProto) -> list[tuple[str, onnx.GraphProto]]:
    """List the graphs that a node has, by attribute: branches, or the body of a loop."""
    found: list[tuple[str, onnx.GraphProto]] = []
    for attribute in proto.attribute:
        graphs = [attribute.g] if attribute.HasField("g") else attribute.graphs
        found += ((attribute.name, graph) for graph in graphs)
    return found


def given_names(graph: onnx.GraphProto) -> set[str]:
    """Return the names of the values that initializers give."""
    given = {tensor.name for tensor in graph.initializer}
    return given | {tensor.values.name for tensor in graph.sparse_initializer}


def defined_names(graph: onnx.GraphProto) -> set[str]:
    """Return the names of the values that a graph defines: the graphs around it have others."""
    inputs = {value.name for value in graph.input}
    return given_names(graph) | inputs | {name for n in graph.node for name in n.output if name}


def rename_values(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    """Rename values of a graph, also where its subgraphs use them."""
    if not names:
        return
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
        for _, inner in subgraphs(node):
            own = defined_names(inner)
            rename_values(inner, {old: new for old, new in names.items() if old not in own})
    sparse = (each.values for each in graph.sparse_initializer)
    for each in (*graph.initializer, *sparse, *graph.input, *graph.output):
        each.name = names.get(each.name, each.name)


def _makers(
    graph: onnx.GraphProto, nodes: Sequence[Named]
) -> tuple[dict[str, int | None], list[Diagnostic]]:
    """Return the index of the node that makes each value, None for one that no node makes."""
    makers: dict[str, int | None] = dict.fromkeys(given_names(graph))
    faults: list[Diagnostic] = []
    inputs: set[str] = set()
    for value in graph.input:
        if value.name in inputs:
            faults.append(Diagnostic(value.name, "input is declared twice"))
        inputs.add(value.name)
    makers |= dict.fromkeys(inputs)
    for index, (name, proto) in enumerate(nodes):
        for value in filter(None, proto.output):
            if value in makers:
                made = makers[value]
                other = "an input or initializer" if made is None else f"node '{nodes[made].name}'"
                message = f"'{proto.op_type}' node makes value '{value}', which {other} makes too"
                faults.append(Diagnostic(name, message))
            makers[value] = index
    return makers, faults


def _output_faults(graph: onnx.GraphProto, visible: Container[object]) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for value in graph.output:
        if value.name not in visible:
            yield Diagnostic(value.name, "output is a value that nothing defines")
        if value.name in seen:
            yield Diagnostic(value.name, "output is declared twice, must have a name of its own")
        seen.add(value.name)


def uses(proto: onnx.NodeProto) -> Iterator[str]:
    """Yield the names of the values that a node uses, those that its subgraphs capture included."""
    yield from filter(None, proto.input)
    for _, graph in subgraphs(proto):
        yield from _captured(graph)


def _captured(graph: onnx.GraphProto) -> Iterator[str]:
    """Yield the values that a subgraph uses and does not define."""
    own = {"", *defined_names(graph)}
    used = [name for node in graph.node for name in uses(node)]
    yield from (name for name in [*used, *(o.name for o in graph.output)] if name not in own)


def topological_order(needs: Sequence[Sequence[int]]) -> list[int]:
    """Return indices so that each follows its needs, the least first among those that may be next.

    What is in a cycle, or needs such a node, is left out (Kahn, 1962).
    """
    users: list[list[int]] = [[] for _ in needs]
    missing = [len(each) for each in needs]
    for index, each in enumerate(needs):
        for need in each:
            users[need].append(index)
    ready = [index for index, count in enumerate(missing) if not count]
    order: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for user in users[index]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, user)
    return order


def _cycle(nodes: Sequence[Named], needs: Sequence[Sequence[int]], done: set[int]) -> Diagnostic:
    """Return the error for nodes of which none can be computed before the others."""
    seen: list[int] = []
    index = next(i for i in range(len(nodes)) if i not in done)
    while index not in seen:
        seen.append(index)
        index = next(need for need in needs[index] if need not in done)
    names = [nodes[i].name for i in [*seen[seen.index(index) :], index]]
    listed = " needs ".join(f"'{name}'" for name in [*names[:8], *["…"] * (len(names) > 8)])
    return Diagnostic(names[0], f"nodes depend on one another in a cycle: {listed}")
