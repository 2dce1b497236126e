"""What the inputs of a graph of Dynamo are: tensors, weights, sizes of tensors, numbers."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx

from ...runtime.errors import RunError

Number = int | float | bool

_LEAST = 2
"""The least size that is a symbol: torch makes graphs of their own for 0 and 1."""

_FLOATS = (torch.float32, torch.float64)
_operator: Any = operator
_ARITHMETIC: tuple[Any, ...] = (_operator.add, _operator.sub, _operator.mul, _operator.truediv)


@dataclass(frozen=True)
class GraphInputs:
    """Hold the numbers of the inputs of each kind, among the positional arguments of a graph.

    `weights` are parameters and buffers, which Dynamo passes at each call without guards. `sizes`
    has, by the number of an input that is a size, the tensor and the axis that have it. `counts`
    are other whole numbers from 2 on, which become the size of a tensor without elements. `numbers`
    are those that the code is made for.

    Dynamo makes tensors of floating-point numbers, without axes; of these `operands` are among the
    `tensors`, since they are used only in arithmetic in which torch treats both alike.
    """

    tensors: list[int] = field(default_factory=list[int])
    weights: list[int] = field(default_factory=list[int])
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    counts: list[int] = field(default_factory=list[int])
    numbers: list[int] = field(default_factory=list[int])
    operands: list[int] = field(default_factory=list[int])
    axes: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """The axes whose sizes are symbols of Dynamo, by the numbers of tensors and of `counts`."""

    @property
    def taken(self) -> list[int]:
        """Return the inputs that code may take, in order."""
        return sorted([*self.tensors, *self.weights, *self.counts])


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
            if axis is not None:
                found.sizes[index] = axis
            elif isinstance(example, float) or example < _LEAST:
                found.numbers.append(index)
            else:
                found.counts.append(index)
                found.axes[index] = [0]
        elif _is_weight(example):
            found.weights.append(index)
        elif _is_number(node, example) and not _is_operand(node):
            found.numbers.append(index)
        else:
            found.operands.extend([index] * _is_number(node, example))
            found.tensors.append(index)
            found.axes[index] = _symbolic_axes(node)
    return found


def _symbolic_axes(node: fx.Node) -> list[int]:
    """Return the axes of an input whose sizes change from call to call."""
    shape = node.meta["example_value"].shape
    return [axis for axis, size in enumerate(shape) if not spelled(size).isdecimal()]


def number_of(argument: Any) -> Number:
    """Return the Python number that an argument of a call is."""
    return argument.item() if isinstance(argument, torch.Tensor) else int(argument)


def size_of(argument: Any, axis: int) -> int:
    """Return the size of an axis of an argument that code takes."""
    return argument.shape[axis] if isinstance(argument, torch.Tensor) else int(argument)


def tensor_of(argument: Any) -> torch.Tensor:
    """Return the tensor that code takes for an argument; RunError for a number below 2."""
    if isinstance(argument, torch.Tensor):
        return argument
    if argument < _LEAST:  # torch.export has no symbols for these
        raise RunError(f"a number is {argument}, must be from {_LEAST} on, as when it was compiled")
    return torch.empty((int(argument), 0))


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
            for axis in _symbolic_axes(node):
                found.setdefault(spelled(value.shape[axis]), (index, axis))
    return found


def _is_weight(example: torch.Tensor) -> bool:
    static = getattr(example, "_dynamo_static_input_type", None)
    return isinstance(example, torch.nn.Parameter) or static is not None


def _is_operand(node: fx.Node) -> bool:
    """Return whether all that is computed with a number is arithmetic with a tensor of floats.

    Torch rounds a tensor to f16 and bf16 before it computes, but no number.
    """
    return all(
        user.target in _ARITHMETIC and any(map(_is_floating, user.args))
        for item in node.users
        for user in item.users
    )


def _is_floating(operand: Any) -> bool:
    value = operand.meta.get("example_value") if isinstance(operand, fx.Node) else None
    return isinstance(value, torch.Tensor) and value.dim() > 0 and value.dtype in _FLOATS


def _is_number(node: fx.Node, example: torch.Tensor) -> bool:
    """Return whether Dynamo made a tensor of a Python number: where sizes are symbols, it does."""
    used = [user.op == "call_method" and user.target == "item" for user in node.users]
    return example.dim() == 0 and bool(used) and all(used)
