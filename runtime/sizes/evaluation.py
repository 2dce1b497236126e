"""Compute everything in a manifest that depends on the values of its symbols, by one function."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contents import Contents
from ..dtypes import itemsize
from .fields import texts_in
from .size_expressions import MOST, Formulas, Size

MOST_BYTES = 1 << 47  # user address space on x86-64

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class SizeFault(ValueError):
    """Report why a package cannot run at some sizes."""


class Values:
    """Hold the numbers that the sizes of a package stand for at values of its symbols.

    `arenas` has the bytes of the arenas with regions, by their bases. `places` are those of texts
    in the `table` of numbers.
    """

    def __init__(
        self,
        symbols: Mapping[str, int] = _NOTHING,
        numbers: Sequence[int] = (),
        places: Mapping[str, int] = _NOTHING,
        arenas: Mapping[int, int] = _NOTHING,
    ) -> None:
        self.symbols = symbols
        self.arenas = arenas
        self._numbers = numbers
        self.places = places

    def __call__(self, size: Size | str) -> int:
        """Return the number that a size stands for."""
        return self._numbers[self.places[size]] if isinstance(size, str) else size

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """Return the numbers of all texts."""
        return np.array(self._numbers, np.int64)

    def __str__(self) -> str:
        return ", ".join(f"{name} is {value}" for name, value in self.symbols.items())


STATIC = Values()
"""The values of a package without symbols."""


class SizeArray:
    """Make arrays of the numbers that some sizes stand for; fast enough for thousands.

    All values that it meets have the same places, or else it looks its texts up again.
    """

    def __init__(self, sizes: Sequence[Size]) -> None:
        texts = {i: str(size) for i, size in enumerate(sizes) if type(size) is not int}
        self._numbers = np.array([0 if i in texts else n for i, n in enumerate(sizes)], np.int64)
        self._to, self._texts = list(texts), list(texts.values())
        self._found: tuple[Mapping[str, int], list[int]] = _NOTHING, []

    def at(self, values: Values) -> NDArray[np.int64]:
        """Return a new array of 64-bit numbers."""
        array = self._numbers.copy()
        if self._to:
            places, found = self._found
            if places is not values.places:
                found = [values.places[text] for text in self._texts]
                self._found = values.places, found
            array[self._to] = values.table[found]
        return array


class Evaluation:
    """Compute all sizes of a package from the values of its symbols.

    Raises PackageError for texts that are no expressions of the symbols. `records` have sizes in
    fields beside those of the contents: steps, and their places. `places` are those of texts among
    the numbers of a plan.
    """

    def __init__(self, contents: Contents, records: Iterable[tuple[object, str]] = ()) -> None:
        self._contents = contents
        self._names = tuple(symbol.name for symbol in contents.symbols)
        self._formulas = Formulas(self._names)
        self._proofs: dict[str, str] = {}
        self._numbers: dict[str, str] = {}
        for symbol in contents.symbols:
            value = self._formulas.read(symbol.name)
            if symbol.step != 1:
                value = self._formulas.operate("//", value, str(symbol.step))
                self._formulas.define(symbol.unit, value)
        self._check = self._formulas.function(
            [
                self._formulas.read(check.expression, f"checks[{i}].expression")
                for i, check in enumerate(contents.checks)
            ]
        )
        self._arenas = self._read_regions()
        self._read_buffers()
        for record, where in (
            (contents.memory, "memory"),
            *records,
        ):
            for text, place in texts_in(record, where):
                self._read(text, place)
        formulas = list(dict.fromkeys(self._numbers.values()))
        places = {formula: i for i, formula in enumerate(formulas)}
        self.places = {text: places[formula] for text, formula in self._numbers.items()}
        self._function = self._formulas.function(
            list(self._proofs), formulas, list(self._arenas.values())
        )

    def at(self, symbols: Mapping[str, int]) -> Values:
        """Return all numbers at the values of symbols.

        Raises SizeFault where a check fails, or a size or an offset is impossible.
        """
        try:
            (checks,) = self._check(*(symbols[name] for name in self._names))
        except ZeroDivisionError:
            raise SizeFault("a size is divided by 0") from None
        for check, number in zip(self._contents.checks, checks, strict=True):
            if number < 0 or (number and check.relation == "=="):
                where = f"{check.node}: error: " if check.node else ""
                raise SizeFault(f"{where}{check.message}")
        return self.unchecked(symbols)

    def unchecked(self, symbols: Mapping[str, int]) -> Values:
        """Return all numbers at the values of symbols, where checks may fail."""
        try:
            proofs, numbers, arenas = self._function(*(symbols[name] for name in self._names))
        except ZeroDivisionError:
            raise SizeFault("a size is divided by 0") from None
        if proofs and (min(proofs) < 0 or max(proofs) > MOST_BYTES):
            raise SizeFault(self._fault(proofs))
        if numbers and (min(numbers) < -MOST - 1 or max(numbers) > MOST):
            raise SizeFault("a size has more than 64 bits")
        sizes = dict(zip(self._arenas, arenas, strict=True))
        return Values(symbols, numbers, self.places, sizes)

    def _fault(self, proofs: Sequence[int]) -> str:
        texts = self._proofs.values()
        found = (
            (what, n) for what, n in zip(texts, proofs, strict=True) if not 0 <= n <= MOST_BYTES
        )
        what, number = next(found)
        return f"{what} is {number}, must be from 0 to {MOST_BYTES}"

    # -- formulas -----------------------------------------------------------------------------

    def _read(self, size: Size | str, where: str) -> str:
        """Return the formula of a size, whose number is then known to the plan."""
        formula = self._formulas.read(size, where)
        if isinstance(size, str):
            self._numbers[size] = formula
        return formula

    def _prove(self, formula: str, what: str) -> str:
        """Let each evaluation prove that a formula is a possible number of bytes."""
        self._proofs.setdefault(formula, what)
        return formula

    def _read_size(self, size: Size, where: str) -> str:
        return self._prove(self._read(size, where), f"'{where}'")

    def _read_bytes(self, shape: Sequence[Size], dtype: str, where: str) -> str:
        sizes = [self._read_size(size, f"{where}.shape[{i}]") for i, size in enumerate(shape)]
        width, operate = itemsize(dtype) or 1, self._formulas.operate
        # A zero among huge sizes would hide them, and numpy refuses such a shape.
        nonzero = [operate("or", each, "1") if each != "0" else "1" for each in sizes]
        self._prove(self._formulas.product(nonzero, width), f"the bytes of '{where}'")
        return self._formulas.product(sizes, width)

    def _read_regions(self) -> dict[int, str]:
        """Compute where regions are, for the expressions of offsets; return the ends of arenas."""
        ends: list[str] = []
        arenas: dict[int, list[str]] = {}
        offsets: list[str] = []
        for i, region in enumerate(self._contents.regions):
            size = self._read_size(region.size, f"regions[{i}].size")
            below = [ends[j] for j in region.above]
            offsets.append(self._formulas.call("max", below) if below else "0")
            ends.append(self._formulas.operate("+", offsets[-1], size))
            arenas.setdefault(region.base, []).append(ends[-1])
        for i, offset in enumerate(offsets):
            self._formulas.define(f"at_{i}", offset)
        return {
            base: self._prove(self._formulas.call("max", each), f"the end of arena {base}")
            for base, each in arenas.items()
        }

    def _read_buffers(self) -> None:
        """Prove that buffers are in their bases, at offsets that suit their elements."""
        operate, call = self._formulas.operate, self._formulas.call
        rooms = self._rooms()
        ends: dict[int, list[str]] = {}
        offsets: dict[int, list[str]] = {}
        for i, buffer in enumerate(self._contents.buffers):
            where = f"buffers[{i}]"
            size = self._read_bytes(buffer.shape, buffer.dtype, where)
            offset = self._read_size(buffer.offset, f"{where}.offset")
            ends.setdefault(buffer.base, []).append(operate("+", offset, size))
            offsets.setdefault(itemsize(buffer.dtype) or 1, []).append(offset)
        for base, each in ends.items():
            if base not in rooms:
                continue  # which the checks refuse
            rest = operate("-", rooms[base], call("max", each))
            self._prove(rest, f"the rest of base {base} behind its buffers")
        for width, each in offsets.items():
            bits = operate("&", call("|", each), str(width - 1))
            self._prove(operate("-", "0", bits), f"a multiple of {width} below an offset")

    def _rooms(self) -> dict[int, str]:
        """Return the bytes of all bases."""
        contents = self._contents
        memory = contents.memory
        sizes: list[str] = list(
            map(str, (memory.arena_bytes, memory.weight_bytes, memory.prepared_bytes))
        )
        for kind, ports in (("inputs", contents.inputs), ("outputs", contents.outputs)):
            sizes += [
                self._read_bytes(p.shape, p.dtype, f"{kind}[{i}]") for i, p in enumerate(ports)
            ]
        for space in contents.spaces:
            sizes += [str(space.arena_bytes), str(space.weight_bytes)]
        return dict(enumerate(sizes)) | self._arenas
