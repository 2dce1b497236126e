"""An exported program: values, nodes with arguments by the names of torch's schemas. No MLIR.

Source: `torch/_export/serde/schema.py`, schema version 8.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..torch.node import Node, Weight


@dataclass(frozen=True)
class Reference:
    """An argument that is a value of the graph, by its name."""

    name: str


@dataclass(frozen=True)
class Unread:
    """An argument of a kind that is not read."""

    kind: str


@dataclass(frozen=True)
class SizeFormula:
    """A size that depends on symbols, as torch spells it: `Add(Symbol('s0'), Integer(1))`."""

    text: str


ProgramSize = int | SizeFormula


@dataclass(frozen=True)
class TensorType:
    """The element type (that of torch, `torch.float32`) and the sizes of a tensor."""

    dtype: str
    sizes: tuple[ProgramSize, ...]


@dataclass(frozen=True)
class Result:
    """A result of a node: the name of a value, or the names of the values in a list."""

    names: tuple[str, ...]
    is_list: bool = False


@dataclass(eq=False)
class ProgramNode(Node):
    """A call of an operator: `type` is its overload, `aten::add.Tensor`.

    `path` is the module of the source that called it, `source` the line of Python, `custom` what
    `torch.fx.traceback.annotate` has said of it.
    """

    name: str
    type: str
    arguments: dict[str, Any]
    results: list[Result]
    path: str = ""
    source: str = ""
    custom: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def result_count(self) -> int:
        return sum(len(result.names) for result in self.results)


@dataclass(frozen=True)
class Graph:
    """A graph that a node has as an argument: names of values, and the types of them by name."""

    inputs: list[Any]
    outputs: list[Any]
    nodes: list[ProgramNode]
    types: Mapping[str, TensorType]


@dataclass(frozen=True)
class Port:
    """An input or output: its name in the graph, a constant that stands for it, or a weight's name.

    `kind` is that of torch's signature: `user_input`, `parameter`, `buffer_mutation`, …
    """

    kind: str
    value: Any
    target: str = ""


@dataclass
class Program:
    """An exported program, as the archive has it.

    `types` has the type of each tensor by its name, `ranges` the least and the greatest size of
    each symbol, `output_names` a name for each output that the user sees, in order, and
    `symbol_names` the names that the user gave to symbols. One that `is_decomposed` has no operator
    that torch can take apart and no rule is for.
    """

    inputs: list[Port]
    outputs: list[Port]
    nodes: list[ProgramNode]
    types: dict[str, TensorType]
    weights: Mapping[str, Weight]
    ranges: dict[str, tuple[int, int | None]] = field(default_factory=dict[str, Any])
    output_names: list[str] = field(default_factory=list[str])
    symbol_names: Mapping[str, str] = field(default_factory=dict[str, str])
    is_decomposed: bool = False
