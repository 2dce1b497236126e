"""Sizes of a run in an ONNX graph: a constant, or nodes that compute them from shapes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.data_dependent import DataDependentOp
from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.sizes.atoms import Atom, Maximum, Quotient, Size, is_symbolic, terms_of
from ....dialects.core.sizes.dim import symbols_of
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.sizes.symbols import Symbol
from ....dialects.core.tensor import Array

Input: TypeAlias = ir.Value | Array | str
AddNode: TypeAlias = Callable[..., str]
"""Adds a node that makes a tensor of i64, and returns its name: operator, inputs, attributes."""


@dataclass(frozen=True)
class Source:
    """Know the value of which an axis, or an element, is a multiple of a symbol."""

    value: ir.Value
    place: int
    factor: int = 1
    is_element: bool = False


def sources_of(inputs: Iterable[ir.Value], ops: Sequence[Op]) -> dict[str, Source]:
    """Return where a run gets each symbol from: shapes of inputs, and what ops find."""
    found: dict[str, Source] = {}
    for value in inputs:
        _add_axes(found, value)
    for op in ops:
        if isinstance(op, tri.DefineSizes):
            for place, size in enumerate(op.sizes):
                _add(found, size, op.y, place, is_element=True)
        elif isinstance(op, DataDependentOp):
            names = {symbol.name for symbol in op.defined}
            for value in op.results:
                _add_axes(found, value, names)
    return found


def _add_axes(found: dict[str, Source], value: ir.Value, names: set[str] | None = None) -> None:
    for axis, size in enumerate(tensor_of(value.type).shape):
        if names is None or names & symbols_of(size).keys():
            _add(found, size, value, axis)


def _add(
    found: dict[str, Source], size: Size, value: ir.Value, place: int, *, is_element: bool = False
) -> None:
    """Add the symbol that a size is a multiple of, unless an equal or smaller multiple is known."""
    terms = terms_of(size)
    for product, factor in terms.items():
        if len(terms) == len(product) == 1 and isinstance(product[0], Symbol):
            known = found.get(product[0].name)
            if known is None or known.factor > factor:
                found[product[0].name] = Source(value, place, factor, is_element)


@dataclass
class SizeNodes:
    """Write sizes as tensors of one i64, each expression once.

    `sources` says where symbols come from, `known` has the names of what is written already, here
    or around the graph.
    """

    add: AddNode
    sources: Mapping[str, Source]
    known: dict[Size, str] = field(default_factory=dict[Size, str])
    _atoms: dict[Atom, str] = field(default_factory=dict[Atom, str])

    def vector(self, sizes: Sequence[Size]) -> Array | str:
        """Return sizes as a list: a constant if all are known, else the name of a tensor."""
        if not any(map(is_symbolic, sizes)):
            return np.array(sizes, np.int64)
        if len(sizes) == 1:
            return self._named(sizes[0])
        parts: list[Input] = []
        numbers: list[int] = []
        for size in (*sizes, None):
            if size is not None and not is_symbolic(size):
                numbers.append(size)
                continue
            if numbers:
                parts.append(np.array(numbers, np.int64))
                numbers = []
            if size is not None:
                parts.append(self._named(size))
        return self.add("Concat", parts, axis=0)

    def scalar(self, size: Size) -> Array | str:
        """Return a size as a tensor without axes."""
        if not is_symbolic(size):
            return np.array(size, np.int64)
        return self.add("Squeeze", [self._named(size)])

    def _input(self, size: Size) -> Input:
        return self._named(size) if is_symbolic(size) else np.array([size], np.int64)

    def _named(self, size: Size) -> str:
        if size not in self.known:
            self.known[size] = self._sum(size)
        return self.known[size]

    def _sum(self, size: Size) -> str:
        """Add up the products, those that are added first."""
        terms = sorted(terms_of(size).items(), key=lambda term: (term[1] < 0, not term[0]))
        total, *others = ((self._product(p, abs(f)), f > 0) for p, f in terms)
        made = total[0] if total[1] else self.add("Neg", [total[0]])
        for name, positive in others:
            made = self.add("Add" if positive else "Sub", [made, name])
        return made if isinstance(made, str) else self.add("Identity", [made])

    def _product(self, atoms: tuple[Atom, ...], factor: int) -> Input:
        factors: list[Input] = [self._atom(atom) for atom in atoms]
        if factor != 1 or not factors:
            factors.append(np.array([factor], np.int64))
        made = factors[0]
        for each in factors[1:]:
            made = self.add("Mul", [made, each])
        return made

    def _atom(self, atom: Atom) -> str:
        if atom not in self._atoms:
            self._atoms[atom] = self._new_atom(atom)
        return self._atoms[atom]

    def _new_atom(self, atom: Atom) -> str:
        match atom:
            case Symbol():
                return self._symbol(atom)
            case Maximum():
                return self.add("Max", [self._input(size) for size in atom.of])
            case Quotient():
                return self._quotient(atom.dividend, atom.divisor)

    def _quotient(self, dividend: Size, divisor: Size) -> str:
        """Divide, rounding down: ONNX rounds towards 0."""
        size, by = self._input(dividend), self._input(divisor)
        if not at_least(dividend, 0):
            size = self.add("Sub", [size, self.add("Mod", [size, by])])
        return self.add("Div", [size, by])

    def _symbol(self, symbol: Symbol) -> str:
        source = self.sources.get(symbol.name)
        if source is None:
            raise Unsupported(f"depends on size {symbol}, which is the size of no axis of an input")
        place = source.place
        if source.is_element:
            bounds = [np.array([end], np.int64) for end in (place, place + 1)]
            made = self.add("Slice", [self._listed(source.value), *bounds])
        else:
            made = self.add("Shape", [source.value], start=place, end=place + 1)
        if source.factor == 1:
            return made
        return self.add("Div", [made, np.array([source.factor], np.int64)])

    def _listed(self, found: ir.Value) -> Input:
        """Return sizes that an op finds as a list, also a single one without axes."""
        if tensor_of(found.type).rank:
            return found
        return self.add("Reshape", [found, np.array([-1], np.int64)])

    def inside(self, add: AddNode, sources: Mapping[str, Source]) -> "SizeNodes":
        """Return the sizes of a graph inside, which sees what is written so far."""
        return SizeNodes(add, {**self.sources, **sources}, dict(self.known), dict(self._atoms))
