"""`IndexExpr`: a loop index or offset in a kernel under construction; sizes fold as such."""

import operator
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ....dialects.core.mlir import ir, upstream
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.dim import ceildiv, floordiv, highest, lowest
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.tensor import Shape
from ...memory.strides import row_major
from .record import current_record, emitted, mark_of
from .value import Value, element_type

arith: Any = upstream("arith")
scf: Any = upstream("scf")


NARROW_PLACES = 1 << 31
"""Below this extent, vectors of places have elements of 32 bits: twice as many fit in a register.

Scalar places are of MLIR's `index` type, which has 64 bits.
"""


TRIPS = "trivium.trips"
"""The attribute of a loop whose trip count depends on symbols: that count, in words."""


ROLLED = "trivium.rolled"
"""The attribute of a loop that is not to be unrolled."""

_IS_ROLLED: ContextVar[bool] = ContextVar("is_rolled", default=False)


@contextmanager
def rolled() -> Generator[None]:
    """Mark the loops emitted in the block: LLVM unrolls none of them."""
    token = _IS_ROLLED.set(True)
    try:
        yield
    finally:
        _IS_ROLLED.reset(token)


def _mark_rolled(loop: Any) -> None:
    if _IS_ROLLED.get():
        loop.operation.attributes[ROLLED] = ir.UnitAttr.get()


def place_dtype(extent: Size) -> str:
    """Return the element type of vectors of places below an extent: i64 unless i32 must do."""
    return "i32" if at_least(NARROW_PLACES - 1, extent) else "i64"


class IndexExpr:
    """Wrap a value of MLIR's `index` type, or a size (an int, or one of symbols) until needed."""

    def __init__(self, value: Any) -> None:
        self.size: Size | None = value if isinstance(value, int) or is_symbolic(value) else None
        self._ssa = None if self.size is not None else value

    @property
    def known(self) -> int | None:
        """Return the int that the index is; None where it depends on a run."""
        return None if self.size is None or is_symbolic(self.size) else self.size

    @property
    def ssa(self) -> Any:
        """The SSA value; emits a constant for a known index."""
        if self.size is None:
            return self._ssa
        if is_symbolic(self.size):
            return emitted(self.size)
        return arith.constant(ir.IndexType.get(), self.size)

    def _binary(
        self, other: "IndexExpr | Size", fold: Callable[[Size, Size], Size], op: Any
    ) -> "IndexExpr":
        right = as_index(other)
        if self.size is not None and right.size is not None:
            return IndexExpr(fold(self.size, right.size))
        return IndexExpr(op(self.ssa, right.ssa))

    def __add__(self, other: "IndexExpr | Size") -> "IndexExpr":
        right = as_index(other)
        if right.known == 0:
            return self
        return right if self.known == 0 else self._binary(right, operator.add, arith.addi)

    def __sub__(self, other: "IndexExpr | Size") -> "IndexExpr":
        right = as_index(other)
        return self if right.known == 0 else self._binary(right, operator.sub, arith.subi)

    def __mul__(self, other: "IndexExpr | Size") -> "IndexExpr":
        right = as_index(other)
        if self.known == 0 or right.known == 0:
            return IndexExpr(0)
        if right.known == 1:
            return self
        return right if self.known == 1 else self._binary(right, operator.mul, arith.muli)

    def __floordiv__(self, other: Size) -> "IndexExpr":
        """Divide a non-negative index by a positive size."""
        if other == 1:
            return self
        return self._binary(divisor(other), floordiv, arith.divui)

    def __mod__(self, other: Size) -> "IndexExpr":
        """Return the remainder of a non-negative index by a positive size."""
        if other == 1:
            return IndexExpr(0)
        return self._binary(divisor(other), operator.mod, arith.remui)

    def minimum(self, other: "IndexExpr | Size") -> "IndexExpr":
        return self._binary(other, least, arith.minsi)

    def maximum(self, other: "IndexExpr | Size") -> "IndexExpr":
        return self._binary(other, greatest, arith.maxsi)

    def _compare(self, other: "IndexExpr | Size", predicate: str) -> Value:
        right = as_index(other)
        kind = getattr(arith.CmpIPredicate, predicate)
        return Value(arith.cmpi(kind, self.ssa, right.ssa), "i1")

    def less(self, other: "IndexExpr | Size") -> Value:
        return self._compare(other, "slt")

    def equal(self, other: "IndexExpr | Size") -> Value:
        return self._compare(other, "eq")

    def within(self, low: Size, high: Size) -> Value:
        """Test low <= index < high in one unsigned comparison."""
        return (self - low)._compare(high - low, "ult")

    def select(self, condition: Value, other: "IndexExpr | Size") -> "IndexExpr":
        """Return this index where the condition holds, else the other."""
        right = as_index(other)
        return IndexExpr(arith.select(condition.ssa, self.ssa, right.ssa))

    def to_value(self, dtype: str) -> Value:
        """Convert to an integer element type."""
        return Value(arith.index_cast(element_type(dtype), self.ssa), dtype)


def as_index(value: IndexExpr | Size) -> IndexExpr:
    """Return a size as an index, or the index given."""
    return value if isinstance(value, IndexExpr) else IndexExpr(value)


def greatest(a: Size, b: Size) -> Size:
    """Return the greater one of two sizes, at once for ints."""
    return highest(a, b) if is_symbolic(a) or is_symbolic(b) else max(a, b)


def least(a: Size, b: Size) -> Size:
    """Return the lesser one of two sizes, at once for ints."""
    return lowest(a, b) if is_symbolic(a) or is_symbolic(b) else min(a, b)


def is_equal(a: Size, b: Size) -> Size:
    """Return 1 where two sizes are equal, else 0."""
    return 1 - least(greatest(a - b, b - a), 1)


def divisor(size: Size) -> Size:
    """Return a size to divide by, at least 1: code also runs where its loop has no trips."""
    return highest(size, 1) if is_symbolic(size) else size


def index_of(value: Value) -> IndexExpr:
    """Convert an integer number to an index."""
    cast = arith.index_castui if value.kind == "uint" else arith.index_cast
    return IndexExpr(cast(ir.IndexType.get(), value.ssa))


def unravel(linear: IndexExpr, shape: Sequence[int]) -> list[IndexExpr]:
    """Split a row-major position into one index per dimension."""
    if not shape:
        return []
    inner: list[IndexExpr] = []
    for size in reversed(shape[1:]):
        inner.append(linear % size)
        linear = linear // size
    return [linear, *reversed(inner)]


def ravel(indices: Sequence[IndexExpr], shape: Shape) -> IndexExpr:
    """Return the row-major position of an index of each dimension."""
    position = IndexExpr(0)
    for index, stride in zip(indices, row_major(shape), strict=True):
        position = position + index * stride
    return position


def for_each(
    stop: IndexExpr | Size,
    body: Callable[[IndexExpr], None],
    step: int = 1,
    start: IndexExpr | Size = 0,
) -> None:
    """Emit a loop over start, start + step, … below `stop`; one known trip is no loop."""
    stop, start = as_index(stop), as_index(start)
    trips = _trips(start, stop, step)
    if at_least(1, trips):
        _at_most_once(trips, lambda: body(start))
        return
    loop = scf.ForOp(start.ssa, stop.ssa, IndexExpr(step).ssa)
    mark_trips(loop, trips)
    _mark_rolled(loop)
    with ir.InsertionPoint(loop.body):
        body(IndexExpr(loop.induction_variable))
        scf.yield_([])


UNKNOWN = 2
"""Stands for a trip count that is no size."""


def _trips(start: IndexExpr, stop: IndexExpr, step: int) -> Size:
    if start.size is None or stop.size is None:
        return UNKNOWN
    return greatest(ceildiv(stop.size - start.size, step), 0)


def _at_most_once(trips: Size, body: Callable[[], None]) -> None:
    if is_symbolic(trips):
        when(IndexExpr(trips).equal(1), body)
    elif trips:
        body()


def mark_trips(loop: Any, trips: Size) -> None:
    """Note on a loop how many trips it has, where that depends on symbols."""
    if is_symbolic(trips):
        loop.operation.attributes[TRIPS] = mark_of(current_record().in_words(trips))


def nest(shape: Sequence[int], body: Callable[[list[IndexExpr]], None]) -> None:
    """Emit a loop nest over all indices of a shape, in row-major order."""
    if not shape:
        body([])
        return
    for_each(shape[0], lambda i: nest(shape[1:], lambda rest: body([i, *rest])))


Carried = list[Value]


def carry(
    stop: IndexExpr | Size,
    initial: Carried,
    body: Callable[[IndexExpr, Carried], Carried],
    step: int = 1,
    start: IndexExpr | Size = 0,
) -> Carried:
    """Emit a loop that carries numbers from one trip to the next, and return the last ones."""
    stop, start = as_index(stop), as_index(start)
    trips = _trips(start, stop, step)
    if not is_symbolic(trips) and trips <= 1:
        return body(start, initial) if trips else initial
    values = [n.ssa for n in initial]
    loop = scf.ForOp(start.ssa, stop.ssa, IndexExpr(step).ssa, values)
    mark_trips(loop, trips)
    _mark_rolled(loop)
    with ir.InsertionPoint(loop.body):
        now = [n.with_ssa(v) for n, v in zip(initial, loop.inner_iter_args, strict=True)]
        scf.yield_([n.ssa for n in body(IndexExpr(loop.induction_variable), now)])
    return [n.with_ssa(v) for n, v in zip(initial, loop.results, strict=True)]


def carry_while(
    initial: Carried, goes_on: Callable[[Carried], Value], body: Callable[[Carried], Carried]
) -> Carried:
    """Emit a loop that carries numbers as long as a test of them holds; return the last ones."""
    types = [n.ssa.type for n in initial]
    loop = scf.WhileOp(types, [n.ssa for n in initial])
    test, trip = (ir.Block.create_at_start(region, types) for region in loop.regions)

    def numbers(values: Sequence[Any]) -> Carried:
        return [n.with_ssa(v) for n, v in zip(initial, values, strict=True)]

    with ir.InsertionPoint(test):
        scf.condition(goes_on(numbers(test.arguments)).ssa, test.arguments)
    with ir.InsertionPoint(trip):
        scf.yield_([n.ssa for n in body(numbers(trip.arguments))])
    return numbers(loop.results)


@dataclass(frozen=True)
class Span:
    """Name the indices from `first` to `end` - 1."""

    first: IndexExpr
    end: IndexExpr


def carry_nest(
    shape: Sequence[Size | Span],
    initial: Carried,
    body: Callable[[list[IndexExpr], Carried], Carried],
) -> Carried:
    """Emit a loop nest that carries numbers through all of its trips."""
    if not shape:
        return body([], initial)
    first, end = (s.first, s.end) if isinstance(s := shape[0], Span) else (0, s)
    return carry(
        end,
        initial,
        lambda i, now: carry_nest(shape[1:], now, lambda rest, inner: body([i, *rest], inner)),
        start=first,
    )


def when_else(condition: Value, if_true: Callable[[], None], if_false: Callable[[], None]) -> None:
    """Emit an `if` with an else branch."""
    branch = scf.IfOp(condition.ssa, has_else=True)
    for block, body in ((branch.then_block, if_true), (branch.else_block, if_false)):
        with ir.InsertionPoint(block):
            body()
            scf.yield_([])


def choose(
    condition: Value, like: Value, if_true: Callable[[], Value], if_false: Callable[[], Value]
) -> Value:
    """Emit a branch that computes one of two numbers of `like`'s type: only one side is done."""
    branch = scf.IfOp(condition.ssa, [like.ssa.type], has_else=True)
    for block, make in ((branch.then_block, if_true), (branch.else_block, if_false)):
        with ir.InsertionPoint(block):
            scf.yield_([make().ssa])
    return like.with_ssa(branch.results[0])


def replaced_if(some: Size, value: Value, make: Callable[[], Value]) -> Value:
    """Return what `make` returns if a size is 1, and the value if it is 0."""
    if not is_symbolic(some):
        return make() if some else value
    return choose(IndexExpr(some).equal(1), value, make, lambda: value)


def when(condition: Value, body: Callable[[], None]) -> None:
    """Emit an `if` without an else branch."""
    branch = scf.IfOp(condition.ssa)
    with ir.InsertionPoint(branch.then_block):
        body()
        scf.yield_([])
