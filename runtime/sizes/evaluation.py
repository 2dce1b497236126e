"""Compute everything in a manifest that depends on the values of its symbols, by one function."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from math import prod

from ..contents import Contents
from ..dtypes import itemsize
from .fields import texts_in
from .formulas import Formulas
from .polynomials import Polynomial, as_number, number
from .size_expressions import MOST, MOST_BYTES, Size
from .values import SizeFault, Values

_PORTS = 7
"""Where the shapes of ports begin in what the function of an evaluation returns."""


class Evaluation:
    """Compute all sizes of a package from the values of its symbols.

    Raises PackageError for texts that are no expressions of the symbols. `records` have sizes in
    fields beside those of the contents: steps, and their places. `places` are those of texts among
    the numbers of a plan. `checks` are the formulas of the checks in order, `arenas` those of the
    bytes of arenas with regions.
    """

    def __init__(self, contents: Contents, records: Iterable[tuple[object, str]] = ()) -> None:
        self._contents = contents
        self._names = tuple(symbol.name for symbol in contents.symbols)
        self.formulas = formulas_of(contents)
        self._shapes: list[tuple[str, Sequence[Size], str]] = []
        self._sizes: dict[Polynomial, str] = {}
        self._proofs: dict[Polynomial, str] = {}
        self._numbers: dict[str, Polynomial] = {}
        self.checks = [
            self.formulas.read(check.expression, f"checks[{i}].expression")
            for i, check in enumerate(contents.checks)
        ]
        self._check = self.formulas.function(self.checks)
        pairs = list(zip(contents.checks, self.checks, strict=True))
        least = [value for check, value in pairs if check.relation == ">="]
        equal = [value for check, value in pairs if check.relation != ">="]
        self.arenas: dict[int, Polynomial] = {}
        self._bytes: dict[str, list[Polynomial]] = {}
        self._read_buffers(self._read_regions())
        for record, where in (
            (contents.memory, "memory"),
            *records,
        ):
            for text, place in texts_in(record, where):
                self._read(text, place)
        formulas = list(dict.fromkeys(self._numbers.values()))
        places = {formula: i for i, formula in enumerate(formulas)}
        self.places = {text: places[formula] for text, formula in self._numbers.items()}
        self._function = self.formulas.function(
            list(self._sizes),
            list(self._proofs),
            formulas,
            list(self.arenas.values()),
            self._bytes["outputs"],
            least,
            equal,
            *(
                [self.formulas.read(size) for size in port.shape]
                for port in (*contents.inputs, *contents.outputs)
            ),
        )

    def at(self, symbols: Mapping[str, int]) -> Values:
        """Return all numbers at the values of symbols.

        Raises SizeFault where a check fails, or a size or an offset is impossible.
        """
        return self._values(symbols, checked=True)

    def unchecked(self, symbols: Mapping[str, int]) -> Values:
        """Return all numbers at the values of symbols, where checks may fail."""
        return self._values(symbols, checked=False)

    @property
    def sizes(self) -> list[Polynomial]:
        """Return the sizes of tensors that are not known to be possible ones."""
        return [*self._sizes]

    def _refuse(self, symbols: Mapping[str, int]) -> None:
        """Raise SizeFault for the first check that fails."""
        try:
            (checks,) = self._check(*(symbols[name] for name in self._names))
        except ZeroDivisionError:
            raise SizeFault("a size is divided by 0") from None
        for check, value in zip(self._contents.checks, checks, strict=True):
            if value < 0 or (value and check.relation == "=="):
                where = f"{check.node}: error: " if check.node else ""
                raise SizeFault(f"{where}{check.message}")

    def _values(self, symbols: Mapping[str, int], *, checked: bool) -> Values:
        try:
            found = self._function(*map(symbols.__getitem__, self._names))
        except ZeroDivisionError:
            if checked:
                self._refuse(symbols)
            raise SizeFault("a size is divided by 0") from None
        sizes, proofs, numbers, arenas, output_bytes, least, equal = found[:_PORTS]
        if checked and (any(equal) or (least and min(least) < 0)):
            self._refuse(symbols)
        for what, proved in ((self._sizes, sizes), (self._proofs, proofs)):
            if proved and (min(proved) < 0 or max(proved) > MOST_BYTES):
                raise SizeFault(_fault(what.values(), proved))
        try:
            words = array("q", numbers)
        except OverflowError:
            raise SizeFault("a size has more than 64 bits") from None
        ends = dict(zip(self.arenas, arenas, strict=True))
        values = Values(symbols, words, self.places, ends, found[_PORTS:], output_bytes)
        if 0 in sizes:
            self._check_empty(values)
        return values

    def _check_empty(self, values: Values) -> None:
        """Check the sizes beside a zero, which would hide them, and numpy refuses such a shape."""
        for where, shape, dtype in self._shapes:
            size = prod(values(each) or 1 for each in shape) * (itemsize(dtype) or 1)
            if size > MOST_BYTES:
                raise SizeFault(_fault([f"the bytes of '{where}'"], [size]))

    # -- formulas -----------------------------------------------------------------------------

    def _read(self, size: Size | str, where: str) -> Polynomial:
        """Return the formula of a size, whose number is then known to the plan."""
        formula = self.formulas.read(size, where)
        if isinstance(size, str):
            self._numbers[size] = formula
        return formula

    def _prove(self, formula: Polynomial, what: str) -> Polynomial:
        """Let each evaluation prove that a formula is a possible number of bytes."""
        if not _is_possible(as_number(formula)):
            self._proofs.setdefault(formula, what)
        return formula

    def _read_size(self, size: Size, where: str) -> Polynomial:
        return self._prove(self._read(size, where), f"'{where}'")

    def _read_bytes(self, shape: Sequence[Size], dtype: str, where: str) -> Polynomial:
        sizes = [self._read(size, f"{where}.shape[{i}]") for i, size in enumerate(shape)]
        if any(isinstance(size, str) for size in shape):
            self._shapes.append((where, shape, dtype))
        for i, size in enumerate(sizes):
            if size and not _is_possible(as_number(size)):
                self._sizes.setdefault(size, f"'{where}.shape[{i}]'")
        width, product = itemsize(dtype) or 1, self.formulas.product
        # Zeros that depend on symbols are seen when there are some.
        self._prove(product(filter(None, sizes), width), f"the bytes of '{where}'")
        return product(sizes, width)

    def _read_regions(self) -> dict[int, list[Polynomial]]:
        """Compute where regions are, for the expressions of offsets; return their ends, by base."""
        call = self.formulas.call
        offsets: list[Polynomial] = []
        ends: list[Polynomial] = []
        arenas: dict[int, list[Polynomial]] = {}
        for i, region in enumerate(self._contents.regions):
            size = self._read_size(region.size, f"regions[{i}].size")
            below = [ends[j] for j in region.above]
            offsets.append(call("max", below) if below else number(0))
            ends.append(self._end(offsets[-1], size))
            arenas.setdefault(region.base, []).append(ends[-1])
        for i, offset in enumerate(offsets):
            self.formulas.define(f"at_{i}", offset)
        for base, each in arenas.items():
            self.arenas[base] = self._prove(call("max", each), f"the end of arena {base}")
        return arenas

    def _read_buffers(self, regions: Mapping[int, Sequence[Polynomial]]) -> None:
        """Prove that buffers are in their bases, at offsets that suit their elements."""
        operate, call = self.formulas.operate, self.formulas.call
        rooms = self._rooms()
        ends: dict[int, dict[Polynomial, None]] = {}
        offsets: dict[int, list[Polynomial]] = {}
        for i, buffer in enumerate(self._contents.buffers):
            where = f"buffers[{i}]"
            size = self._read_bytes(buffer.shape, buffer.dtype, where)
            offset = self._read_size(buffer.offset, f"{where}.offset")
            ends.setdefault(buffer.base, {}).setdefault(self._end(offset, size))
            offsets.setdefault(itemsize(buffer.dtype) or 1, []).append(offset)
        for base, each in ends.items():
            # An arena ends after its regions.
            unknown = [end for end in each if end not in set(regions.get(base, ()))]
            if base not in rooms or not unknown:
                continue  # a base that there is not: the checks refuse it
            rest = operate("-", rooms[base], call("max", unknown))
            self._prove(rest, f"the rest of base {base} behind its buffers")
        for width, each in offsets.items():
            bits = operate("&", call("|", each), number(width - 1))
            self._prove(operate("-", number(0), bits), f"a multiple of {width} below an offset")

    def _end(self, offset: Polynomial, size: Polynomial) -> Polynomial:
        """Return the sum of two formulas by their names: it has few terms."""
        return self.formulas.operate("+", *map(self.formulas.named, (offset, size)))

    def _rooms(self) -> dict[int, Polynomial]:
        """Return the bytes of all bases."""
        contents = self._contents
        memory = contents.memory
        known = [memory.arena_bytes, memory.weight_bytes, memory.prepared_bytes]
        sizes = list(map(number, known))
        for kind, ports in (("inputs", contents.inputs), ("outputs", contents.outputs)):
            self._bytes[kind] = [
                self._read_bytes(p.shape, p.dtype, f"{kind}[{i}]") for i, p in enumerate(ports)
            ]
            sizes += self._bytes[kind]
        for space in contents.spaces:
            sizes += map(number, (space.arena_bytes, space.weight_bytes))
        return dict(enumerate(sizes)) | self.arenas


def formulas_of(contents: Contents) -> Formulas:
    """Return formulas that know the symbols of a package, their quotients and its named sizes."""
    formulas = Formulas(tuple(symbol.name for symbol in contents.symbols))
    for symbol in contents.symbols:
        value = formulas.read(symbol.name)
        if symbol.step != 1:
            formulas.define(symbol.unit, formulas.operate("//", value, number(symbol.step)))
    for i, each in enumerate(contents.named_sizes):
        value = formulas.read(each.expression, f"named_sizes[{i}].expression")
        formulas.define(each.name, value)
    return formulas


def _is_possible(size: int | None) -> bool:
    return size is not None and 0 <= size <= MOST_BYTES


def _fault(texts: Iterable[str], sizes: Sequence[int]) -> str:
    pairs = zip(texts, sizes, strict=True)
    what, size = next((what, size) for what, size in pairs if not _is_possible(size))
    # Python refuses to write numbers of thousands of digits.
    shown = size if abs(size) <= MOST else f"{'-' * (size < 0)}2^{abs(size).bit_length() - 1} or so"
    return f"{what} is {shown}, must be from 0 to {MOST_BYTES}"
