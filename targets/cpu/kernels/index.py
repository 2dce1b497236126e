"""`Index`: a loop index or offset in a kernel under construction; constants fold as Python ints."""

from collections.abc import Callable, Sequence
from typing import Any

from ....dialects.core.mlir import ir, upstream
from .value import Number, element_type

arith: Any = upstream("arith")
scf: Any = upstream("scf")


NARROW_PLACES = 1 << 31
"""Below this extent, vectors of places have elements of 32 bits: twice as many fit in a register.

Scalar places are of MLIR's `index` type, which has 64 bits.
"""


def place_dtype(extent: int) -> str:
    """Return the element type of vectors of places below an extent."""
    return "i32" if extent < NARROW_PLACES else "i64"


class Index:
    """Wrap a value of MLIR's `index` type, or a Python int until one is needed."""

    def __init__(self, value: Any) -> None:
        self.known: int | None = value if isinstance(value, int) else None
        self._value = None if isinstance(value, int) else value

    @property
    def value(self) -> Any:
        """The SSA value; emits a constant for a known index."""
        if self.known is None:
            return self._value
        return arith.constant(ir.IndexType.get(), self.known)

    def _binary(self, other: "Index | int", fold: Callable[[int, int], int], op: Any) -> "Index":
        right = other if isinstance(other, Index) else Index(other)
        if self.known is not None and right.known is not None:
            return Index(fold(self.known, right.known))
        return Index(op(self.value, right.value))

    def __add__(self, other: "Index | int") -> "Index":
        right = other if isinstance(other, Index) else Index(other)
        if right.known == 0:
            return self
        return right if self.known == 0 else self._binary(right, int.__add__, arith.addi)

    def __sub__(self, other: "Index | int") -> "Index":
        right = other if isinstance(other, Index) else Index(other)
        return self if right.known == 0 else self._binary(right, int.__sub__, arith.subi)

    def __mul__(self, other: "Index | int") -> "Index":
        right = other if isinstance(other, Index) else Index(other)
        if self.known == 0 or right.known == 0:
            return Index(0)
        if right.known == 1:
            return self
        return right if self.known == 1 else self._binary(right, int.__mul__, arith.muli)

    def __floordiv__(self, other: int) -> "Index":
        """Divide a non-negative index by a positive int."""
        return self if other == 1 else self._binary(other, int.__floordiv__, arith.divui)

    def __mod__(self, other: int) -> "Index":
        """Return the remainder of a non-negative index by a positive int."""
        return Index(0) if other == 1 else self._binary(other, int.__mod__, arith.remui)

    def minimum(self, other: "Index | int") -> "Index":
        return self._binary(other, min, arith.minsi)

    def maximum(self, other: "Index | int") -> "Index":
        return self._binary(other, max, arith.maxsi)

    def _compare(self, other: "Index | int", predicate: str) -> Number:
        right = other if isinstance(other, Index) else Index(other)
        kind = getattr(arith.CmpIPredicate, predicate)
        return Number(arith.cmpi(kind, self.value, right.value), "i1")

    def less(self, other: "Index | int") -> Number:
        return self._compare(other, "slt")

    def equal(self, other: "Index | int") -> Number:
        return self._compare(other, "eq")

    def within(self, low: int, high: int) -> Number:
        """Test low <= index < high in one unsigned comparison."""
        return (self - low)._compare(high - low, "ult")

    def select(self, condition: Number, other: "Index | int") -> "Index":
        """Return this index where the condition holds, else the other."""
        right = other if isinstance(other, Index) else Index(other)
        return Index(arith.select(condition.value, self.value, right.value))

    def number(self, dtype: str) -> Number:
        """Convert to an integer element type."""
        return Number(arith.index_cast(element_type(dtype), self.value), dtype)


def index_of(number: Number) -> Index:
    """Convert an integer number to an index."""
    cast = arith.index_castui if number.kind == "uint" else arith.index_cast
    return Index(cast(ir.IndexType.get(), number.value))


def unravel(linear: Index, shape: Sequence[int]) -> list[Index]:
    """Split a row-major position into one index per dimension."""
    if not shape:
        return []
    inner: list[Index] = []
    for size in reversed(shape[1:]):
        inner.append(linear % size)
        linear = linear // size
    return [linear, *reversed(inner)]


def for_each(
    stop: Index | int, body: Callable[[Index], None], step: int = 1, start: Index | int = 0
) -> None:
    """Emit a loop over start, start + step, … below `stop`; one known trip is no loop."""
    stop = stop if isinstance(stop, Index) else Index(stop)
    start = start if isinstance(start, Index) else Index(start)
    if stop.known is not None and start.known is not None and start.known + step >= stop.known:
        if start.known < stop.known:
            body(start)
        return
    loop = scf.ForOp(start.value, stop.value, Index(step).value)
    with ir.InsertionPoint(loop.body):
        body(Index(loop.induction_variable))
        scf.yield_([])


def nest(shape: Sequence[int], body: Callable[[list[Index]], None]) -> None:
    """Emit a loop nest over all indices of a shape, in row-major order."""
    if not shape:
        body([])
        return
    for_each(shape[0], lambda i: nest(shape[1:], lambda rest: body([i, *rest])))


Carried = list[Number]


def carry(
    stop: Index | int,
    initial: Carried,
    body: Callable[[Index, Carried], Carried],
    step: int = 1,
    start: int = 0,
) -> Carried:
    """Emit a loop that carries numbers from one trip to the next, and return the last ones."""
    stop = stop if isinstance(stop, Index) else Index(stop)
    if stop.known is not None and start + step >= stop.known:
        return body(Index(start), initial) if start < stop.known else initial
    values = [n.value for n in initial]
    loop = scf.ForOp(Index(start).value, stop.value, Index(step).value, values)
    with ir.InsertionPoint(loop.body):
        now = [n.with_value(v) for n, v in zip(initial, loop.inner_iter_args, strict=True)]
        scf.yield_([n.value for n in body(Index(loop.induction_variable), now)])
    return [n.with_value(v) for n, v in zip(initial, loop.results, strict=True)]


def carry_nest(
    shape: Sequence[int], initial: Carried, body: Callable[[list[Index], Carried], Carried]
) -> Carried:
    """Emit a loop nest that carries numbers through all of its trips."""
    if not shape:
        return body([], initial)
    return carry(
        shape[0],
        initial,
        lambda i, now: carry_nest(shape[1:], now, lambda rest, inner: body([i, *rest], inner)),
    )


def choose(
    condition: Number, like: Number, if_true: Callable[[], Number], if_false: Callable[[], Number]
) -> Number:
    """Emit a branch that computes one of two numbers of `like`'s type: only one side is done."""
    branch = scf.IfOp(condition.value, [like.value.type], has_else=True)
    for block, make in ((branch.then_block, if_true), (branch.else_block, if_false)):
        with ir.InsertionPoint(block):
            scf.yield_([make().value])
    return like.with_value(branch.results[0])


def when(condition: Number, body: Callable[[], None]) -> None:
    """Emit a branch that is only taken where a condition holds."""
    branch = scf.IfOp(condition.value)
    with ir.InsertionPoint(branch.then_block):
        body()
        scf.yield_([])
