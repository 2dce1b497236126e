"""How each output of a graph is made: computed, or a view of an argument or of what is computed."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import SYMPY_INTERP

from ...dialects.core.errors import Unsupported
from .graph_inputs import placeholders, spelled

Sizes = Callable[[Sequence[Any]], Sequence[int]]
"""Return numbers, given the arguments of a call."""


@dataclass(frozen=True)
class Constant:
    """An output that is the same in each call: None, a number, a text."""

    value: Any

    def __call__(self, arguments: Sequence[Any], computed: Sequence[Any]) -> Any:
        return self.value


@dataclass(frozen=True)
class Computed:
    """An output that a session computes; one that `is_number` is a Python number."""

    index: int
    is_number: bool

    def __call__(self, arguments: Sequence[Any], computed: Sequence[Any]) -> Any:
        return computed[self.index].item() if self.is_number else computed[self.index]


@dataclass(frozen=True)
class View:
    """An output that shares its memory with an argument, or with a tensor that is computed.

    `geometry` returns size, stride and offset from the base, one after the other; it is None where
    the output is the base itself.
    """

    base: int
    is_argument: bool
    rank: int = 0
    geometry: Sizes | None = None

    def __call__(self, arguments: Sequence[Any], computed: Sequence[Any]) -> torch.Tensor:
        base: torch.Tensor = (arguments if self.is_argument else computed)[self.base]
        if self.geometry is None:
            return base
        *sizes, offset = self.geometry(arguments)
        size, stride = sizes[: self.rank], sizes[self.rank :]
        return base.as_strided(size, stride, base.storage_offset() + offset)


Result = Constant | Computed | View


class Results:
    """Find the outputs of a graph that share memory, by the storage that Dynamo traced them with.

    `computed` are the nodes that a session is to compute, `made` the outputs in order. Raises
    Unsupported where an output is no view of a tensor that is computed.
    """

    def __init__(self, graph: fx.Graph) -> None:
        inputs = placeholders(graph)
        (output,) = [node for node in graph.nodes if node.op == "output"]
        outputs = output.args[0]
        self.computed: list[fx.Node] = []
        self._graph = graph
        self._symbols = _symbols(inputs)
        self._arguments = {
            _storage(_value(node)): index
            for index, node in reversed([*enumerate(inputs)])
            if isinstance(_value(node), torch.Tensor)
        }
        self._inputs = inputs
        self._uses = Counter(_storage(_value(each)) for each in outputs if _is_tensor(each))
        self.made = [self._find(each) for each in outputs]

    @property
    def are_computed(self) -> bool:
        """Return whether the outputs are what is computed, each once and in order."""
        plain = [Computed(index, False) for index in range(len(self.computed))]
        return self.made == plain

    def _find(self, node: Any) -> Result:
        if not isinstance(node, fx.Node):
            return Constant(node)
        if not _is_tensor(node):
            return Computed(self._compute(node), True)
        storage = _storage(_value(node))
        argument = self._arguments.get(storage)
        if argument is not None:
            return self._view(node, self._inputs[argument], argument, True)
        if self._uses[storage] == 1:
            return Computed(self._compute(node), False)
        base = self._owner(node)
        return self._view(node, base, self._compute(base), False)

    def _compute(self, node: fx.Node) -> int:
        if node not in self.computed:
            self.computed.append(node)
        return self.computed.index(node)

    def _owner(self, node: fx.Node) -> fx.Node:
        """Return the node whose result is all of the memory of a result."""
        storage = _storage(_value(node))
        for each in self._graph.nodes:
            if _is_tensor(each) and _storage(_value(each)) == storage and _is_whole(_value(each)):
                return each
        raise Unsupported(f"output '{node.name}' shares memory with another, must have its own")

    def _view(self, node: fx.Node, base: fx.Node, index: int, is_argument: bool) -> Result:
        value, of = _value(node), _value(base)
        if value.dtype != of.dtype or value.is_conj() != of.is_conj():
            raise Unsupported(f"output '{node.name}' is a view of type {value.dtype} of {of.dtype}")
        geometry = _geometry(value, of)
        if geometry == _geometry(of, of):
            return View(index, True) if is_argument else Computed(index, False)
        return View(index, is_argument, value.dim(), _evaluator(self._symbols, geometry))


def _value(node: fx.Node) -> Any:
    return node.meta.get("example_value")


def _is_tensor(node: Any) -> bool:
    return isinstance(node, fx.Node) and isinstance(_value(node), torch.Tensor)


def _storage(value: torch.Tensor) -> int:
    storage: Any = value.untyped_storage()
    return storage._cdata


def _is_whole(value: torch.Tensor) -> bool:
    """Return whether a tensor, computed anew as a contiguous one, has the memory of all its views.

    Sizes are compared as they are spelled: no comparison must become a guard of Dynamo.
    """
    contiguous = torch.empty(value.shape, device="meta", dtype=value.dtype)
    return _geometry(value, value) == _geometry(contiguous, contiguous) and spelled(
        value.untyped_storage().nbytes()
    ) == spelled(value.numel() * value.element_size())


def _geometry(value: torch.Tensor, base: torch.Tensor) -> list[str]:
    """Return size, stride and offset of a view, spelled."""
    offset = value.storage_offset() - base.storage_offset()
    return [spelled(size) for size in (*value.shape, *value.stride(), offset)]


def _symbols(inputs: Sequence[fx.Node]) -> dict[str, int]:
    """Return the arguments that are symbolic sizes, by the symbols."""
    values = enumerate(map(_value, inputs))
    return {spelled(value): i for i, value in values if isinstance(value, torch.SymInt)}


def _evaluator(symbols: Mapping[str, int], sizes: Sequence[str]) -> Sizes:
    """Return a function that computes sizes as Dynamo spells them."""
    if all(size.removeprefix("-").isdecimal() for size in sizes):
        known = tuple(map(int, sizes))
        return lambda arguments: known
    code = compile(f"({', '.join(sizes)},)", "<sizes>", "eval")

    def evaluate(arguments: Sequence[Any]) -> Sequence[int]:
        # What torch evaluates its own sizes with: FloorDiv, Max and the like.
        return eval(code, SYMPY_INTERP, {name: arguments[i] for name, i in symbols.items()})

    return evaluate
