"""Move nodes into the branches of an `If` whose results differ in more than sizes.

Exporters write branches of several ranks, such as `Squeeze` and `Identity`: what follows has one
rank again, or fits one branch alone. So the nodes that use such a result are done in each branch,
up to where the branches agree.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import count

import onnx

from .....dialects.core.errors import CompileError, Unsupported
from ..graph import Named, defined_names, rename_values, uses


class BranchesDiffer(Unsupported):
    """Some `outputs` of an `If`, by number, are of several ranks, element types or kinds.

    `fault` is the error where that matters.
    """

    def __init__(self, outputs: Collection[int], fault: Unsupported | CompileError) -> None:
        super().__init__(str(fault))
        self.outputs = outputs
        self.fault = fault


def returned_outputs(
    branching: Named, differing: Collection[int], returned: Sequence[str]
) -> list[int]:
    """Return the numbers of the values that a graph returns that are differing outputs."""
    differ = {branching.proto.output[number] for number in differing}
    return [number for number, name in enumerate(returned) if name in differ]


def sink(
    branching: Named, differing: Collection[int], rest: Sequence[Named], returned: Collection[str]
) -> list[Named]:
    """Return the rest of a graph with an `If` that does what uses its differing outputs.

    `returned` are the values that the graph returns, of which none may differ itself.
    """
    own = list(branching.proto.output)
    differ = {own[number] for number in differing}
    dependent = _dependent(rest, own)
    sunk = _needed(dependent, differ)
    after = [node for node in dependent if node not in sunk]
    made = [*own, *(name for node in sunk for name in node.proto.output)]
    used = {*returned, *(name for node in after for name in uses(node.proto))}
    crossing = [name for name in dict.fromkeys(made) if name and name in used]
    proto = onnx.NodeProto()
    proto.CopyFrom(branching.proto)
    del proto.output[:]
    proto.output.extend(crossing)
    names = {*made, *(name for node in sunk for name in uses(node.proto))}
    for attribute in proto.attribute:
        _extend(attribute.g, own, sunk, crossing, names)
    before = [node for node in rest if node not in dependent]
    return [*before, *([Named(branching.name, proto)] if crossing else []), *after]


def _dependent(nodes: Iterable[Named], values: Iterable[str]) -> list[Named]:
    """Return the nodes that use values, or what is made of them."""
    reached, found = {*values}, list[Named]()
    for node in nodes:
        if reached.intersection(uses(node.proto)):
            found.append(node)
            reached.update(filter(None, node.proto.output))
    return found


def _needed(nodes: Sequence[Named], values: Collection[str]) -> list[Named]:
    """Return the nodes that use values, and those of `nodes` that make something for them."""
    used = {*values}
    wanted = [node for node in nodes if used.intersection(uses(node.proto))]
    inputs = {name for node in wanted for name in uses(node.proto)}
    found: list[Named] = []
    for node in reversed(nodes):
        if node in wanted or inputs.intersection(node.proto.output):
            found.append(node)
            inputs.update(uses(node.proto))
    return found[::-1]


def _extend(
    graph: onnx.GraphProto,
    own: Sequence[str],
    sunk: Sequence[Named],
    crossing: Sequence[str],
    names: Collection[str],
) -> None:
    """Let a branch do nodes behind its own, which use `names`; it has no other values of these."""
    _rename_own(graph, own, names)
    inner = [value.name for value in graph.output]
    for outer, name in zip(own, inner, strict=True):
        if outer and outer != name:
            graph.node.append(onnx.helper.make_node("Identity", [name], [outer]))
    for name, proto in sunk:
        added = graph.node.add()
        added.CopyFrom(proto)
        added.name = proto.name or name
    del graph.output[:]
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in crossing)


def _rename_own(graph: onnx.GraphProto, own: Sequence[str], names: Collection[str]) -> None:
    """Rename what a branch defines by names of other values, unless it returns that for them."""
    defined = defined_names(graph)
    same = {each.name for outer, each in zip(own, graph.output, strict=True) if outer == each.name}
    taken = {*names, *defined}
    new: dict[str, str] = {}
    for name in sorted((defined & {*names}) - same):
        new[name] = next(each for n in count(1) if (each := f"{name}#{n}") not in taken)
        taken.add(new[name])
    rename_values(graph, new)
