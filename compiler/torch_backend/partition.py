"""Divide a graph of Dynamo: what is refused runs in eager torch, what is between is compiled."""

import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

from torch import fx, nn
from torch.fx.passes.split_module import split_module

from ...dialects.core.errors import CompileError
from .capture import node_at

Compile = Callable[[fx.GraphModule], nn.Module]
"""Return a module that does what a graph does, compiled."""


def refused_nodes(graph: fx.Graph, error: Exception) -> set[str]:
    """Return the names of the nodes that an error is about, if it is about nodes alone."""
    if not isinstance(error, CompileError):
        return set()
    names = {node.name for node in graph.nodes if node.op.startswith("call_")}
    places = [diagnostic.where for diagnostic in error.diagnostics]
    found = {node_at(place) for place in places if place}  # the last one may be a summary
    return found if found <= names else set()


def divide(module: fx.GraphModule, refused: Collection[str], compile: Compile) -> nn.Module | None:
    """Return a module that runs the nodes of some names as they are, and the others compiled.

    None where nothing else is left. The order of all nodes remains, since some write in place.
    """
    parts = _parts(module.graph, refused)
    compiled = {*parts.values()} - {parts[name] for name in refused}
    if not compiled:
        return None
    divided = split_module(module, module, lambda node: parts[node.name], keep_original_order=True)
    _return_tuples(divided)
    for number in compiled:
        name = f"submod_{number}"
        part: Any = divided.get_submodule(name)
        divided.set_submodule(name, compile(part))
    return divided


def _return_tuples(divided: fx.GraphModule) -> None:
    """Make each part return a tuple, as graphs of Dynamo do, also where it has one result."""
    graph = divided.graph
    for call in graph.find_nodes(op="call_module"):
        part: Any = divided.get_submodule(str(call.target))
        (output,) = part.graph.find_nodes(op="output")
        (returned,) = output.args
        if isinstance(returned, fx.Node):
            output.args = ((returned,),)
            part.recompile()
            users = list(call.users)
            with graph.inserting_after(call):
                only = graph.call_function(operator.getitem, (call, 0))
            for user in users:
                user.replace_input_with(call, only)
    divided.recompile()


def _parts(graph: fx.Graph, refused: Collection[str]) -> Mapping[str, int]:
    """Number the runs of nodes that are all refused or all not; results of a tuple go with it."""
    parts: dict[str, int] = {}
    number, last = 0, False
    for node in graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        source = node.args[0] if node.target is operator.getitem else None
        if isinstance(source, fx.Node) and source.name in parts:
            parts[node.name] = parts[source.name]
            continue
        number, last = number + ((node.name in refused) != last), node.name in refused
        parts[node.name] = number
    return parts
