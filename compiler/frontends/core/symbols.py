"""The symbols of a model's inputs: their names in expressions, their ranges, their sizes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.dim import symbol
from ....dialects.core.sizes.parse import parse_size
from ....dialects.core.sizes.symbols import ANY, Range, is_model_name
from ....dialects.core.tensor import Bindings
from .inputs import ANONYMOUS, Axis, Input

LONGEST = 100
"""The most letters of a name that is made of another one."""

BATCH, PIXELS = 1, 224
"""The likely sizes of the first axis, and of the pixels of images: the user may say others."""


def labels(inputs: Iterable[Input], shapes: Bindings) -> dict[str, str]:
    """Return the names that the user gives to symbols of the model, in whole shapes.

    Raises CompileError where one symbol has two names.
    """
    found: dict[str, str] = {}
    for each in inputs:
        for axis, label in zip(each.axes, _whole_shape(shapes, each.name), strict=False):
            if not isinstance(label, str) or not axis.symbol:
                continue
            if found.setdefault(axis.symbol, label) != label:
                both = f"{found[axis.symbol]} and {label}"
                message = f"dimension is named {both}, must have one name"
                raise CompileError([Diagnostic(axis.symbol, message)])
    return found


def labelled(axes: Sequence[Axis], given: Mapping[str, str], shapes: Bindings) -> tuple[Axis, ...]:
    """Give axes the names that the user has for them: in a whole shape, or for their symbol."""
    whole: dict[int, str] = {}
    if axes:
        sizes = enumerate(_whole_shape(shapes, axes[0].input))
        whole = {i: size for i, size in sizes if isinstance(size, str) and size != ANONYMOUS}
    return tuple(
        replace(axis, label=whole.get(axis.number) or given.get(axis.symbol, "")) for axis in axes
    )


def _whole_shape(shapes: Bindings, name: str) -> tuple[object, ...]:
    whole = shapes.get(name)
    return tuple(whole) if isinstance(whole, Sequence) else ()


def identifiers(axes: Sequence[Axis]) -> dict[str, str]:
    """Return the name in expressions of each size that the model leaves open, by its key.

    A symbol keeps its name if it is one; others are made names, each one of its own.
    """
    axes = [axis for axis in axes if axis.symbol or axis.size in (None, ANONYMOUS)]
    keys = dict.fromkeys(axis.key for axis in axes)
    kept = {key: key for key in keys if is_model_name(key)}
    taken = {*kept}
    for axis in axes:
        if axis.key not in kept:
            kept[axis.key] = next(name for name in _candidates(axis) if name not in taken)
            taken.add(kept[axis.key])
    return kept


def _candidates(axis: Axis) -> Iterator[str]:
    """Yield names for a size, the best first: `batch-size` is batch_size, `x.0` is x_0."""
    name = re.sub(r"\W+", "_", axis.key, flags=re.ASCII).strip("_") or f"axis_{axis.number}"
    name = f"_{name}" if name[0].isdigit() else name[:LONGEST]
    yield name if is_model_name(name) else f"{name}_"
    for number in range(2, 1 << 31):
        yield f"{name}_{number}"


class Symbols:
    """Hold the size of each symbol of a model's inputs, and the ranges of those that are free."""

    def __init__(self, named: Mapping[str, str]) -> None:
        self.ranges: dict[str, Range] = {}
        self._named = named
        self._sizes: dict[str, Size] = {}

    def known(self, symbol: str, sizes: set[int]) -> None:
        """Note the sizes that are given for a symbol; it has one if all are equal."""
        if len(sizes) == 1:
            self._sizes[self._named[symbol]] = next(iter(sizes))

    def free(self, axis: Axis, rank: int, given: Range | None) -> None:
        """Note an axis without a size, with the range that the user gives."""
        name = self._named[axis.key]
        if name in self._sizes or (given is None and self._is_expression(axis)):
            return
        range = _with_likely(given or ANY, axis.number, rank)
        size = self._sizes[name] = symbol(name, range)
        if is_symbolic(size):
            self.ranges[name] = range

    def _is_expression(self, axis: Axis) -> bool:
        return axis.symbol != self._named[axis.key] and self._expression(axis) is not None

    def _expression(self, axis: Axis) -> Size | None:
        """Read a name such as `past + current` as an expression of symbols, where it is one."""
        names = {key: symbol(key) for key, name in self._named.items() if key == name}
        names |= {key: size for key, size in self._sizes.items() if key in names}
        try:
            return parse_size(axis.symbol, names)
        except Invalid:
            return None

    def size(self, axis: Axis) -> Size:
        """Return the size of an axis, when all axes have been noted."""
        known = self._sizes.get(self._named[axis.key])
        return known if known is not None else cast("Size", self._expression(axis))


def _with_likely(range: Range, axis: int, rank: int) -> Range:
    """Fill in the size for which costs are estimated, where the range has it."""
    likely = BATCH if axis == 0 else PIXELS if rank == 4 and axis > 1 else None
    if range.likely is not None or likely is None or range.fault(likely):
        return range
    return replace(range, likely=likely)
