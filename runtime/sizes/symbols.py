"""Find the values of symbols: from the shapes of inputs, or as a caller gives them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from ..contents import Contents, Port, Symbol
from ..errors import PackageError, RunError
from ..frozen import Frozen
from .values import SizeFault, Values

if TYPE_CHECKING:
    from .evaluation import Evaluation

_MOST_DIGITS = 18


class _Source(Frozen):
    """Know the axis of an input from which a symbol gets its value: `size * scale / factor`."""

    input: int
    axis: int
    factor: int
    scale: int


class Symbols:
    """Find the values of the symbols of a package, and check that they are in their ranges.

    Raises PackageError for a symbol that no input has as the size of an axis, or a multiple of it.
    """

    def __init__(self, contents: Contents, inputs: Sequence[Port] | None = None) -> None:
        """Prepare to read the shapes of all inputs, or of `inputs`, those of a part of a run."""
        self._symbols = {symbol.name: symbol for symbol in contents.symbols}
        self._inputs = contents.inputs if inputs is None else inputs
        self._sources = {symbol.name: self._source(symbol) for symbol in contents.symbols}
        self._rows = [self._row(symbol) for symbol in contents.symbols]

    def of_shapes(self, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
        """Return the values of the symbols where inputs, of the right ranks, have some shapes."""
        found: dict[str, int] = {}
        for name, input, axis, factor, scale, low, high, step in self._rows:
            size = shapes[input][axis]
            found[name] = value = size * scale // factor
            if not low <= value <= high or value % step or size % factor:
                raise self._refusal(self._symbols[name], size, value)
        return found

    def _row(self, symbol: Symbol) -> tuple[str, int, int, int, int, int, float, int]:
        """Return what the value of a symbol is made of: its name, its source, and its range."""
        source = self._sources[symbol.name]
        high = inf if symbol.high is None else symbol.high
        place = source.input, source.axis, source.factor, source.scale
        return symbol.name, *place, symbol.low, high, symbol.step

    def _refusal(self, symbol: Symbol, size: int, value: int) -> RunError:
        """Return the error for a size of an input that does not suit its symbol."""
        source = self._sources[symbol.name]
        fault = range_fault(symbol, value)
        if not fault:
            text = spelled(self._inputs[source.input].shape[source.axis], (symbol,))
            fault = f"{text} is {size}, must be a multiple of {source.factor}"
        return RunError(f"{self._label(source.input)} has {size} along axis {source.axis}: {fault}")

    def given(self, values: Mapping[str, int]) -> dict[str, int]:
        """Return the values of all symbols as a caller gives them by name."""
        known = ", ".join(self._symbols) or "none"
        for name in values:
            if name not in self._symbols:
                raise RunError(f"there is no symbol '{name}', there are {known}")
        for name, symbol in self._symbols.items():
            if name not in values:
                raise RunError(f"symbol '{name}' is missing: give {known}")
            if type(values[name]) is not int:
                raise RunError(f"{name} is {values[name]!r}, must be a whole number")
            if fault := range_fault(symbol, values[name]):
                raise RunError(fault)
        return {name: values[name] for name in self._symbols}

    def disagreement(self, index: int, shape: Sequence[int], wanted: Sequence[int]) -> RunError:
        """Return the error for an input whose shape is not the one that the symbols give."""
        pairs = enumerate(zip(shape, wanted, strict=True))
        axis = next(axis for axis, (size, other) in pairs if size != other)
        entry = self._inputs[index].shape[axis]
        start = (
            f"{self._label(index)} has {shape[axis]} for {self._spelled(entry)} along axis {axis}"
        )
        for source in self._sources.values():
            if self._inputs[source.input].shape[source.axis] == entry:
                other = f"{self._label(source.input)} has {wanted[axis]} along axis {source.axis}"
                return RunError(f"{start}, {other}")
        return RunError(f"{start}, must have {wanted[axis]}")

    def _spelled(self, entry: object) -> int | str:
        return spelled(entry, tuple(self._symbols.values()))

    def _label(self, index: int) -> str:
        return f"input '{self._inputs[index].name}'"

    def _source(self, symbol: Symbol) -> _Source:
        for index, port in enumerate(self._inputs):
            for axis, entry in enumerate(port.shape):
                factor, name = _product(entry) if isinstance(entry, str) else (0, "")
                if factor and name in (symbol.name, symbol.unit):
                    scale = 1 if name == symbol.name else symbol.step
                    return _Source(index, axis, factor, scale)
        raise PackageError(f"symbol '{symbol.name}' is the size of no axis of an input")


def evaluate(evaluation: "Evaluation", symbols: Mapping[str, int]) -> Values:
    """Return the numbers of a package at some values of its symbols; raise RunError for a fault."""
    try:
        return evaluation.at(symbols)
    except SizeFault as error:
        where = ", ".join(f"{name} is {value}" for name, value in symbols.items())
        raise RunError(f"{error} ({where})") from None


def spelled(entry: object, symbols: Sequence[Symbol]) -> int | str:
    """Return a size of an input or output by the names of symbols: `16*T_16` is `T`."""
    if not isinstance(entry, str):
        return int(entry)  # type: ignore[call-overload]
    factor, name = _product(entry)
    for symbol in symbols:
        if factor and name == symbol.unit != symbol.name:
            multiple, rest = divmod(factor, symbol.step)
            if not rest:
                return symbol.name if multiple == 1 else f"{multiple}*{symbol.name}"
    return entry


def _product(text: str) -> tuple[int, str]:
    """Return the number and the name of which a text is the product; 0 for another text."""
    factor, times, name = text.rpartition("*")
    if not times:
        return 1, name
    factor = factor.strip(" ")
    is_number = factor.isdecimal() and factor.isascii() and len(factor) <= _MOST_DIGITS
    return int(factor) if is_number else 0, name.strip(" ")


def spelled_ports(ports: Sequence[Port], symbols: Sequence[Symbol]) -> tuple[Port, ...]:
    """Return inputs or outputs with shapes by the names of symbols."""
    if not symbols:
        return tuple(ports)
    return tuple(
        replace(port, shape=tuple(spelled(size, symbols) for size in port.shape)) for port in ports
    )


def range_fault(symbol: Symbol, value: int) -> str:
    """Return what is wrong with the value of a symbol, else nothing."""
    name, low, high = symbol.name, symbol.low, symbol.high
    if value < low or (high is not None and value > high):
        range_ = f"{low} or more" if high is None else f"{low} to {high}"
        again = f"compile again with shapes={{'{name}': ...}}"
        return f"{name} is {value}, the package was compiled for {range_}: {again}"
    return f"{name} is {value}, must be a multiple of {symbol.step}" if value % symbol.step else ""
