"""The inputs of a program: their sizes, as numbers, names of symbols or expressions of these."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ....dialects.core.errors import Unsupported
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import symbol
from ....dialects.core.sizes.symbols import Range
from ....dialects.core.tensor import Bindings, Tensor
from ..core.inputs import Input, Sizes
from ..torch.element_types import parts_type, torch_type
from .graph import Program, ProgramSize, Reference, SizeFormula
from .size_formulas import evaluate, symbol_of, symbols_in


def user_inputs(program: Program) -> list[str]:
    """List the names of the tensors that a program takes, in order."""
    return [
        port.value.name
        for port in program.inputs
        if port.kind == "user_input" and isinstance(port.value, Reference)
    ]


def is_complex(program: Program, name: str) -> bool:
    """Return whether a tensor of a program has complex numbers."""
    return program.types[name].dtype.startswith("torch.complex")


@dataclass(frozen=True)
class _Multiple:
    """A size that is a multiple of a symbol which no input has on an axis."""

    root: str
    factor: int


class InputSizes:
    """Name the sizes of the inputs of a program: a user's `Dim` has its name.

    `declared` are the inputs, `ranges` the ranges of their symbols and axes.
    """

    def __init__(self, program: Program, names: Sequence[str]) -> None:
        self._program = program
        self._axes = {
            found
            for name in names
            if name in program.types
            for size in program.types[name].sizes
            if (found := _symbol(size))
        }
        self._multiples: dict[tuple[str, int], _Multiple] = {}
        self.declared = [self._declared(name) for name in names]
        self.ranges = dict(self._ranges())

    def missing_from(self, shapes: Bindings) -> dict[str, Range]:
        """Return the ranges of what the user does not bind."""
        return {name: range for name, range in self.ranges.items() if name not in shapes}

    def bound(self, types: Mapping[str, Tensor]) -> dict[str, Size]:
        """Return the size of each symbol of torch, by the types that inputs have become."""
        found: dict[str, Size] = {}
        for declared in self.declared:
            shape = types[declared.name].shape
            for axis, size in enumerate(self._program.types[declared.name].sizes):
                multiple = self._multiples.get((declared.name, axis))
                if multiple is not None:
                    found[multiple.root] = shape[axis] // multiple.factor
                elif name := _symbol(size):
                    found[name] = shape[axis]
        return found

    def _declared(self, name: str) -> Input:
        type_ = self._program.types.get(name)
        if type_ is None:
            return Input(name, "", None, "is no tensor, must be one")
        try:
            sizes: Sizes = tuple(self._size(name, *each) for each in enumerate(type_.sizes))
            if is_complex(self._program, name):
                return Input(name, parts_type(type_.dtype), (*sizes, 2))
            return Input(name, torch_type(type_.dtype), sizes)
        except Unsupported as error:
            return Input(name, "", None, str(error))

    def _size(self, name: str, axis: int, size: ProgramSize) -> int | str | None:
        if isinstance(size, int):
            return size
        if found := symbol_of(size.text):
            return self._name(found)
        symbols = symbols_in(size.text)
        if symbols <= self._axes:
            named = {each: symbol(self._name(each)) for each in symbols}
            return str(evaluate(size.text, named))
        multiple = _multiple(size.text, symbols)
        if multiple is None:
            raise Unsupported(f"has a size {size.text} of a symbol that must be that of an axis")
        self._multiples[name, axis] = multiple
        return None

    def _name(self, symbol: str) -> str:
        return self._program.symbol_names.get(symbol, symbol)

    def _ranges(self) -> Iterator[tuple[str, Range]]:
        for found, (low, high) in self._program.ranges.items():
            if found in self._axes:
                yield self._name(found), Range(low, high)
        for (name, axis), each in self._multiples.items():
            low, high = self._program.ranges.get(each.root, (1, None))
            step = each.factor
            most = None if high is None else high * step
            yield f"{name}.{axis}", Range(low * step, most, step=step)


def _symbol(size: ProgramSize) -> str:
    return symbol_of(size.text) if isinstance(size, SizeFormula) else ""


def _multiple(text: str, symbols: frozenset[str]) -> _Multiple | None:
    """Return what a formula is a multiple of; None for any other."""
    if len(symbols) != 1:
        return None
    (root,) = symbols
    zero, factor, double = (evaluate(text, {root: size}) for size in (0, 1, 2))
    return _Multiple(root, factor) if not zero and factor > 0 and double == 2 * factor else None
