"""What the inputs of a graph of Dynamo are: tensors, weights, sizes of tensors, numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx

Number = int | float | bool


@dataclass(frozen=True)
class GraphInputs:
    """Hold the numbers of the inputs of each kind, among the positional arguments of a graph.

    `weights` are parameters and buffers, which Dynamo passes at each call without guards. `sizes`
    has, by the number of an input that is a size, the tensor and the axis that have it. `numbers`
    are Python numbers, as symbols or as tensors without axes of which only the item is used.
    """

    tensors: list[int] = field(default_factory=list[int])
    weights: list[int] = field(default_factory=list[int])
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    numbers: list[int] = field(default_factory=list[int])


def placeholders(graph: fx.Graph) -> list[fx.Node]:
    """Return the nodes of a graph's inputs, in order."""
    return [node for node in graph.nodes if node.op == "placeholder"]


def classify(graph: fx.Graph, examples: Sequence[Any]) -> GraphInputs:
    """Classify the inputs of a graph, by the nodes of the graph and the arguments of a call."""
    nodes, found = placeholders(graph), GraphInputs()
    axes = _axes_by_symbol(nodes)
    for index, (node, example) in enumerate(zip(nodes, examples, strict=True)):
        if not isinstance(example, torch.Tensor):
            axis = axes.get(spelled(node.meta.get("example_value")))
            if axis is None:
                found.numbers.append(index)
            else:
                found.sizes[index] = axis
        elif _is_weight(example):
            found.weights.append(index)
        elif _is_number(node, example):
            found.numbers.append(index)
        else:
            found.tensors.append(index)
    return found


def symbolic_axes(node: fx.Node) -> list[int]:
    """Return the axes of an input whose sizes change from call to call."""
    shape = node.meta["example_value"].shape
    return [axis for axis, size in enumerate(shape) if not spelled(size).isdecimal()]


def number_of(argument: Any) -> Number:
    """Return the Python number that an argument of a call is."""
    return argument.item() if isinstance(argument, torch.Tensor) else argument


def spelled(size: Any) -> str:
    """Spell a size without making it a guard of Dynamo: `4`, `s77`, `2*s77`."""
    symbolic: Any = size if isinstance(size, torch.SymInt) else None
    return str(size if symbolic is None else symbolic.node.expr)


def _axes_by_symbol(nodes: Sequence[fx.Node]) -> dict[str, tuple[int, int]]:
    """Return the first tensor and axis that has each symbol as its size."""
    found: dict[str, tuple[int, int]] = {}
    for index, node in enumerate(nodes):
        value = node.meta.get("example_value")
        if isinstance(value, torch.Tensor):
            for axis in symbolic_axes(node):
                found.setdefault(spelled(value.shape[axis]), (index, axis))
    return found


def _is_weight(example: torch.Tensor) -> bool:
    static = getattr(example, "_dynamo_static_input_type", None)
    return isinstance(example, torch.nn.Parameter) or static is not None


def _is_number(node: fx.Node, example: torch.Tensor) -> bool:
    """Return whether Dynamo made a tensor of a Python number: where sizes are symbols, it does."""
    used = [user.op == "call_method" and user.target == "item" for user in node.users]
    return example.dim() == 0 and bool(used) and all(used)
