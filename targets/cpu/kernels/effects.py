"""Memory effects of the code of a kernel, and an estimate of its instructions."""

from dataclasses import dataclass

from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size
from .index import TRIPS
from .loops import ORDERED
from .record import size_of_mark

_READS = frozenset({"memref.load", "vector.load", "vector.maskedload", "vector.gather"})
_WRITES = frozenset({"memref.store", "vector.store", "vector.maskedstore", "vector.scatter"})
_PURE = frozenset({"arith", "math", "vector", "index"})
_PURE_OPS = frozenset({"memref.get_global", "llvm.intr.fmuladd"})

INSTRUCTIONS = 3
"""Instructions per memory access, about the same in any kernel."""

UNKNOWN_TRIPS = 3
"""The assumed trip count of a loop whose bounds depend on other loops."""


@dataclass(frozen=True)
class Access:
    """Name the arguments of a kernel that some code reads and writes; `work` is in instructions.

    The work is an expression of the words of the kernel's record where trip counts are.
    """

    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    work: Size = 0

    @property
    def uses(self) -> frozenset[int]:
        return self.reads | self.writes

    def join(self, other: "Access") -> "Access":
        return Access(self.reads | other.reads, self.writes | other.writes, self.work + other.work)


class Effects:
    """Hold the effects of each top-level operation of a kernel on the memory of its arguments."""

    def __init__(self, entry: ir.Block) -> None:
        self._entry = entry
        self._tops: dict[ir.Operation, Access] = {}
        self._paths: dict[ir.Operation, tuple[ir.Operation, Size]] = {}
        for number, argument in enumerate(entry.arguments):
            for use in argument.uses:
                self._add(use.owner.operation, number)
        self.written = frozenset(i for access in self._tops.values() for i in access.writes)

    def of(self, operation: ir.Operation) -> Access:
        """Return the effects of a top-level operation, nested operations included."""
        return self._tops.get(operation, Access())

    def _add(self, operation: ir.Operation, number: int) -> None:
        name = operation.name
        if name not in _READS and name not in _WRITES:
            return
        top, trips = self._path(operation)
        one, none = frozenset({number}), frozenset[int]()
        reads = name in _READS
        access = Access(one if reads else none, none if reads else one, INSTRUCTIONS * trips)
        self._tops[top] = self.of(top).join(access)

    def _path(self, operation: ir.Operation) -> tuple[ir.Operation, Size]:
        """Return the top-level operation that contains an operation, and its trip count."""
        if operation not in self._paths:
            parent = operation.parent
            assert parent is not None, "all code of a kernel is in its function"
            above = parent.operation
            if above.name == "func.func":
                self._paths[operation] = operation, 1
            else:
                top, trips = self._path(above)
                self._paths[operation] = top, trips * _trips(above)
        return self._paths[operation]


def is_pure(operation: ir.Operation, effects: Effects) -> bool:
    """Return whether a top-level operation is pure, or reads only memory that is never written."""
    name = operation.name
    if name in _PURE_OPS:
        return True
    if name in _READS:
        return not effects.of(operation).reads & effects.written
    return name.partition(".")[0] in _PURE and name not in _WRITES


def _trips(operation: ir.Operation) -> Size:
    """Return the trip count of a loop, 1 of one step of many; 1 for other operations."""
    if operation.name != "scf.for" or ORDERED in operation.attributes:
        return 1
    if TRIPS in operation.attributes:
        return size_of_mark(operation.attributes[TRIPS])
    bounds = [_constant(v) for v in list(operation.operands)[:3]]
    if any(bound is None for bound in bounds):
        return UNKNOWN_TRIPS
    start, stop, step = (bound or 0 for bound in bounds)
    return max(0, -(-(stop - start) // step))


def _constant(value: ir.Value) -> int | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    number: int = owner.operation.attributes["value"].value
    return number
