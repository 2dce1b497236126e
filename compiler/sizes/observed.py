"""Sizes of inputs that were observed, in a file: JSON in lines, or a table in CSV."""

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from ...dialects.core.errors import CompileError, Diagnostic, Invalid
from ...dialects.core.sizes.atoms import Size, is_symbolic, terms_of
from ...dialects.core.sizes.binding import verify_checks
from ...dialects.core.sizes.checks import Check
from ...dialects.core.sizes.dim import symbols_of
from ...dialects.core.sizes.substitution import evaluate
from ...dialects.core.sizes.symbols import Range, Symbol
from ...dialects.core.tensor import Tensor

COUNT = "count"
"""The key, or the column, that says how many runs had the sizes of a line."""


@dataclass(frozen=True)
class Observation:
    """Hold the sizes of `count` runs: by symbol, by `input.axis`, or whole shapes by input."""

    where: str
    sizes: Mapping[str, int | tuple[int, ...]]
    count: int = 1


def read_observed(path: str | os.PathLike[str]) -> list[Observation]:
    """Read a `.csv` with a header, or JSON with an object in each line.

    Raises CompileError with all faulty lines, and for a file without any.
    """
    file = Path(path)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CompileError(f"cannot read '{file}': {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise CompileError(f"cannot read '{file}': {error}") from None
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    read: Callable[[str], dict[str, Any]] = _json
    if file.suffix == ".csv" and numbered:
        read = partial(_cells, next(csv.reader([numbered.pop(0)[1]])))
    found: list[Observation] = []
    faults: list[Diagnostic] = []
    for number, line in numbered:
        where = f"{file}:{number}"
        try:
            found.append(_observation(where, read(line)))
        except Invalid as error:
            faults.append(Diagnostic(where, str(error)))
    if not found and not faults:
        faults.append(Diagnostic(str(file), "has no sizes, must have a line for each run"))
    if faults:
        raise CompileError(faults)
    return found


def _json(line: str) -> dict[str, Any]:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise Invalid('is not an object such as {"x": [1, 128]}')
    return cast("dict[str, Any]", row)


def _cells(header: Sequence[str], line: str) -> dict[str, Any]:
    cells = next(csv.reader([line]))
    if len(cells) != len(header):
        raise Invalid(f"has {len(cells)} cells, must have {len(header)}")
    pairs = zip(header, cells, strict=True)
    return {name.strip(): int(c) if c.strip().isdecimal() else c for name, c in pairs}


def _observation(where: str, row: dict[str, Any]) -> Observation:
    count = row.pop(COUNT, 1)
    if type(count) is not int or count < 1:
        raise Invalid(f"'{COUNT}' is {count!r}, must be a number from 1 on")
    sizes: dict[str, int | tuple[int, ...]] = {}
    for name, value in row.items():
        listed = cast("list[Any]", value) if isinstance(value, list) else [value]
        if any(type(size) is not int or size < 0 for size in listed):
            raise Invalid(f"'{name}' is {value!r}, must be a size or a list of sizes")
        sizes[name] = tuple(listed) if isinstance(value, list) else value
    return Observation(where, sizes, count)


class Solver:
    """Find the values of the symbols of a model from observed sizes.

    `named` has the symbols that inputs give: their sizes, which may be multiples, and their ranges.
    `checks` are those of the model.
    """

    def __init__(
        self,
        inputs: Sequence[tuple[str, Tensor]],
        named: Mapping[str, tuple[Size, Range]],
        checks: Sequence[Check],
    ) -> None:
        self._checks = checks
        self._inputs = dict(inputs)
        self._named = named

    def values(self, observed: Observation) -> dict[str, int]:
        """Return the value of each symbol; raise Invalid where they are unknown or do not fit."""
        found: dict[str, int] = {}
        pairs = list(self._pairs(observed))
        for what, size, value in pairs:
            if solved := _solved(size, value):
                known = found.setdefault(*solved)
                if known != solved[1]:
                    raise Invalid(f"{what} is {value}, where {solved[0]} is {known}")
        values: dict[str, int] = {}
        for name, (size, range) in self._named.items():
            if missing := [each for each in symbols_of(size) if each not in found]:
                raise Invalid(f"gives no size for {name}: {', '.join(missing)} is unknown")
            values[name] = evaluate(size, found)
            if fault := range.fault(values[name]):
                raise Invalid(f"{name} is {values[name]}, must be {fault}")
        for what, size, value in pairs:
            if (wanted := evaluate(size, found)) != value:
                where = f", which is {size}" if is_symbolic(size) else ""
                raise Invalid(f"{what} is {value}, must be {wanted}{where}")
        checks = [c for c in self._checks if symbols_of(c.expression).keys() <= found.keys()]
        verify_checks(checks, found)
        return values

    def _pairs(self, observed: Observation) -> Iterator[tuple[str, Size, int]]:
        """Yield sizes of the model with the numbers observed, and what has them."""
        for name, value in observed.sizes.items():
            if isinstance(value, tuple):
                if name not in self._inputs:
                    raise Invalid(f"no input is named '{name}': {', '.join(self._inputs)}")
                shape = self._inputs[name].shape
                if len(shape) != len(value):
                    raise Invalid(f"'{name}' has rank {len(value)}, must have {len(shape)}")
                for axis, (size, number) in enumerate(zip(shape, value, strict=True)):
                    yield f"axis {axis} of '{name}'", size, number
            else:
                yield f"'{name}'", self._size(name), value

    def _size(self, name: str) -> Size:
        if name in self._named:
            return self._named[name][0]
        port, _, axis = name.rpartition(".")
        if port in self._inputs and axis.isdecimal() and int(axis) < self._inputs[port].rank:
            return self._inputs[port].shape[int(axis)]
        known = ", ".join([*self._named, *(f"{port}.0" for port in self._inputs)])
        raise Invalid(f"'{name}' is no symbol and no axis of an input, such as {known}")


def _solved(size: Size, value: int) -> tuple[str, int] | None:
    """Return the symbol that a size is a multiple of, and its value; None for other sizes."""
    terms = terms_of(size)
    for product, factor in terms.items():
        if len(terms) == len(product) == 1 and isinstance(product[0], Symbol):
            return (product[0].name, value // factor) if value % factor == 0 else None
    return None
