"""Print one kernel: lines of C, and for each value of the IR the names of its pieces.

A vector of the IR is one variable or several *pieces*, each at most as wide as a register of the
machine. Compilers cut wider vectors badly, and a machine without vectors has pieces of one lane.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ....dialects.core.errors import Unsupported
from ....dialects.core.machine import Factors, Machine
from ....dialects.core.mlir import ir
from .lanes import lane_of, regrouped
from .masks import mask_widths
from .ranks import Ranks
from .spelling import BYTES, Vector, cut, element_of, initializer, lanes_of

Print = Callable[["Printer", ir.Operation], None]
"""Print one op of a kernel."""

_WORD = re.compile(r"[A-Za-z_]\w*")


def words(text: str) -> list[str]:
    """Return the names in a line of C."""
    return _WORD.findall(text)


@dataclass(frozen=True)
class _Line:
    """A line of C; `defines` names the variable that it defines, if it does nothing else."""

    text: str
    defines: str = ""


class Printer:
    """The state of printing one kernel.

    `affine` keeps what is known of an index apart: a name and a constant to add. With `strict`,
    lanes are summed up in their order. Where `loads_ahead`, compilers load before they multiply.
    """

    def __init__(self, machine: Machine, strict: bool, table: Mapping[str, Print]) -> None:
        self.strict = strict
        self.fuses = machine.fuses
        self.loads_ahead = machine.core.factors is Factors.VECTORS
        self.ranks = Ranks()
        self.affine: dict[ir.Value, tuple[str, int]] = {}
        self.tables: dict[str, str] = {}
        self._table = table
        self._register = 0 if machine.is_scalar else machine.vector_bytes
        self._pieces: dict[ir.Value, tuple[str, ...]] = {}
        self._mask_bytes: Mapping[ir.Value, int] = {}
        self._lines: list[_Line] = []
        self._depth = 1
        self._numbers: Counter[str] = Counter()

    # -- lines --------------------------------------------------------------------------------

    def begin(self, function: ir.Operation) -> None:
        """Choose the widths of the masks of a function."""
        self._mask_bytes = mask_widths(function)

    def emit(self, text: str, defines: str = "") -> None:
        self._lines.append(_Line("  " * self._depth + text, defines))

    def indent(self, steps: int) -> None:
        self._depth += steps

    def lines(self) -> list[str]:
        """Return the lines, without definitions that nothing reads."""
        uses = Counter(word for line in self._lines for word in words(line.text))
        kept: list[str] = []
        for line in reversed(self._lines):
            if line.defines and uses[line.defines] == 1:
                uses.subtract(words(line.text))
            else:
                kept.append(line.text)
        return kept[::-1]

    def new_name(self, prefix: str = "t") -> str:
        self._numbers[prefix] += 1
        return f"{prefix}{self._numbers[prefix]}"

    # -- ops ----------------------------------------------------------------------------------

    def print_block(self, block: ir.Block) -> None:
        """Print the ops of a block, but for a terminator without an entry in the table."""
        for each in block.operations:
            self.print_op(each.operation)

    def print_op(self, op: ir.Operation) -> None:
        """Print an op; raise Unsupported for one that has no entry in the table."""
        if op.name not in self._table:
            raise Unsupported(f"is computed by '{op.name}', which is not printed as C")
        self._table[op.name](self, op)

    # -- types --------------------------------------------------------------------------------

    def most_lanes(self, element_bytes: int) -> int:
        return max(1, self._register // element_bytes)

    def vectors(self, value: ir.Value) -> tuple[Vector, ...]:
        """Return the types of the pieces of a value; those of a mask are of integers."""
        type_ = value.type
        lanes, element = lanes_of(type_), element_of(type_)
        if element == "i1":
            bytes_ = self.mask_bytes(value)
            return self.mask_vectors(lanes, bytes_)
        return tuple(Vector(n, element) for n in cut(lanes, self.most_lanes(BYTES[element])))

    def mask_bytes(self, value: ir.Value) -> int:
        """Return how wide the lanes of a mask are."""
        return self._mask_bytes.get(value, 4)

    def mask_vectors(self, lanes: int, bytes_: int) -> tuple[Vector, ...]:
        return tuple(Vector(n, f"i{8 * bytes_}") for n in cut(lanes, self.most_lanes(bytes_)))

    def type_names(self, value: ir.Value) -> list[str]:
        """Return what the variables of a value are declared as."""
        is_mask = element_of(value.type) == "i1"
        return [
            "bool" if is_mask and each.lanes == 1 else each.name for each in self.vectors(value)
        ]

    # -- values -------------------------------------------------------------------------------

    def pieces(self, value: ir.Value) -> tuple[str, ...]:
        return self._pieces[value]

    def name(self, value: ir.Value) -> str:
        """Return the spelling of a scalar, or of a vector of one piece."""
        (only,) = self._pieces[value]
        return only

    def bind(self, value: ir.Value, *pieces: str) -> None:
        """Let a value be spelled as expressions that cost nothing to repeat."""
        self._pieces[value] = pieces

    def define(self, value: ir.Value, *expressions: str) -> None:
        """Define a variable for each piece of a value."""
        names: list[str] = []
        for type_, text in zip(self.type_names(value), expressions, strict=True):
            names.append(self.new_name())
            self.emit(f"const {type_} {names[-1]} = {text};", names[-1])
        self.bind(value, *names)

    def variable(self, type_: str, expression: str) -> str:
        """Define a variable that stands for no value of the IR; return its name."""
        name = self.new_name()
        self.emit(f"const {type_} {name} = {expression};", name)
        return name

    def declare(self, value: ir.Value, prefix: str, initial: Sequence[str] = ()) -> None:
        """Declare variables that are assigned later, with initial values if given."""
        names = [self.new_name(prefix) for _ in self.vectors(value)]
        for number, (type_, name) in enumerate(zip(self.type_names(value), names, strict=True)):
            self.emit(f"{type_} {name}{f' = {initial[number]}' if initial else ''};")
        self.bind(value, *names)

    # -- lanes --------------------------------------------------------------------------------

    def lane(self, value: ir.Value, number: int) -> str:
        """Return the spelling of one lane."""
        return lane_of(self.pieces(value), self.vectors(value), number)

    def places(self, value: ir.Value) -> Iterator[tuple[Vector, range]]:
        """Yield the type of each piece of a value, and the numbers of its lanes."""
        first = 0
        for vector in self.vectors(value):
            yield vector, range(first, first + vector.lanes)
            first += vector.lanes

    def define_lanes(self, value: ir.Value, lanes: Sequence[str]) -> None:
        """Define a value by the spelling of each lane."""
        spelled = ((v, [lanes[n] for n in numbers]) for v, numbers in self.places(value))
        self.define(value, *(initializer(vector, own) for vector, own in spelled))

    def regrouped(self, value: ir.Value, lanes: Sequence[int]) -> list[str]:
        """Return the lanes of a value as pieces of other sizes, of the same element type."""
        return regrouped(self.pieces(value), self.vectors(value), lanes)

    def mask(self, value: ir.Value, like: Sequence[Vector]) -> list[str]:
        """Return the pieces of a mask as lanes of the widths of others."""
        have = self.vectors(value)
        pieces = self.regrouped(value, [each.lanes for each in like])
        if have[0].bits == like[0].bits:
            return pieces
        return [
            piece if each.lanes == 1 else f"__builtin_convertvector({piece}, {each.integers.name})"
            for piece, each in zip(pieces, like, strict=True)
        ]

    def operands(self, op: ir.Operation) -> list[tuple[str, ...]]:
        """Return the pieces of all operands of an op on lanes: a tuple for each piece."""
        return [*zip(*(self.pieces(value) for value in op.operands), strict=True)]


def is_mask(value: ir.Value) -> bool:
    """Return whether a value is a condition, or a vector of conditions."""
    return element_of(value.type) == "i1"
