"""`IndexExpr`: a loop index or offset in a kernel under construction; constants fold as ints."""

from collections.abc import Callable, Sequence
from typing import Any

from ....dialects.core.mlir import ir, upstream
from .value import Value, element_type

arith: Any = upstream("arith")
scf: Any = upstream("scf")


NARROW_PLACES = 1 << 31
"""Below this extent, vectors of places have elements of 32 bits: twice as many fit in a register.

Scalar places are of MLIR's `index` type, which has 64 bits.
"""


def place_dtype(extent: int) -> str:
    """Return the element type of vectors of places below an extent."""
    return "i32" if extent < NARROW_PLACES else "i64"


class IndexExpr:
    """Wrap a value of MLIR's `index` type, or a Python int until one is needed."""

    def __init__(self, value: Any) -> None:
        self.known: int | None = value if isinstance(value, int) else None
        self._ssa = None if isinstance(value, int) else value

    @property
    def ssa(self) -> Any:
        """The SSA value; emits a constant for a known index."""
        if self.known is None:
            return self._ssa
        return arith.constant(ir.IndexType.get(), self.known)

    def _binary(
        self, other: "IndexExpr | int", fold: Callable[[int, int], int], op: Any
    ) -> "IndexExpr":
        right = other if isinstance(other, IndexExpr) else IndexExpr(other)
        if self.known is not None and right.known is not None:
            return IndexExpr(fold(self.known, right.known))
        return IndexExpr(op(self.ssa, right.ssa))

    def __add__(self, other: "IndexExpr | int") -> "IndexExpr":
        right = other if isinstance(other, IndexExpr) else IndexExpr(other)
        if right.known == 0:
            return self
        return right if self.known == 0 else self._binary(right, int.__add__, arith.addi)

    def __sub__(self, other: "IndexExpr | int") -> "IndexExpr":
        right = other if isinstance(other, IndexExpr) else IndexExpr(other)
        return self if right.known == 0 else self._binary(right, int.__sub__, arith.subi)

    def __mul__(self, other: "IndexExpr | int") -> "IndexExpr":
        right = other if isinstance(other, IndexExpr) else IndexExpr(other)
        if self.known == 0 or right.known == 0:
            return IndexExpr(0)
        if right.known == 1:
            return self
        return right if self.known == 1 else self._binary(right, int.__mul__, arith.muli)

    def __floordiv__(self, other: int) -> "IndexExpr":
        """Divide a non-negative index by a positive int."""
        return self if other == 1 else self._binary(other, int.__floordiv__, arith.divui)

    def __mod__(self, other: int) -> "IndexExpr":
        """Return the remainder of a non-negative index by a positive int."""
        return IndexExpr(0) if other == 1 else self._binary(other, int.__mod__, arith.remui)

    def minimum(self, other: "IndexExpr | int") -> "IndexExpr":
        return self._binary(other, min, arith.minsi)

    def maximum(self, other: "IndexExpr | int") -> "IndexExpr":
        return self._binary(other, max, arith.maxsi)

    def _compare(self, other: "IndexExpr | int", predicate: str) -> Value:
        right = other if isinstance(other, IndexExpr) else IndexExpr(other)
        kind = getattr(arith.CmpIPredicate, predicate)
        return Value(arith.cmpi(kind, self.ssa, right.ssa), "i1")

    def less(self, other: "IndexExpr | int") -> Value:
        return self._compare(other, "slt")

    def equal(self, other: "IndexExpr | int") -> Value:
        return self._compare(other, "eq")

    def within(self, low: int, high: int) -> Value:
        """Test low <= index < high in one unsigned comparison."""
        return (self - low)._compare(high - low, "ult")

    def select(self, condition: Value, other: "IndexExpr | int") -> "IndexExpr":
        """Return this index where the condition holds, else the other."""
        right = other if isinstance(other, IndexExpr) else IndexExpr(other)
        return IndexExpr(arith.select(condition.ssa, self.ssa, right.ssa))

    def to_value(self, dtype: str) -> Value:
        """Convert to an integer element type."""
        return Value(arith.index_cast(element_type(dtype), self.ssa), dtype)


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


def for_each(
    stop: IndexExpr | int,
    body: Callable[[IndexExpr], None],
    step: int = 1,
    start: IndexExpr | int = 0,
) -> None:
    """Emit a loop over start, start + step, … below `stop`; one known trip is no loop."""
    stop = stop if isinstance(stop, IndexExpr) else IndexExpr(stop)
    start = start if isinstance(start, IndexExpr) else IndexExpr(start)
    if stop.known is not None and start.known is not None and start.known + step >= stop.known:
        if start.known < stop.known:
            body(start)
        return
    loop = scf.ForOp(start.ssa, stop.ssa, IndexExpr(step).ssa)
    with ir.InsertionPoint(loop.body):
        body(IndexExpr(loop.induction_variable))
        scf.yield_([])


def nest(shape: Sequence[int], body: Callable[[list[IndexExpr]], None]) -> None:
    """Emit a loop nest over all indices of a shape, in row-major order."""
    if not shape:
        body([])
        return
    for_each(shape[0], lambda i: nest(shape[1:], lambda rest: body([i, *rest])))


Carried = list[Value]


def carry(
    stop: IndexExpr | int,
    initial: Carried,
    body: Callable[[IndexExpr, Carried], Carried],
    step: int = 1,
    start: int = 0,
) -> Carried:
    """Emit a loop that carries numbers from one trip to the next, and return the last ones."""
    stop = stop if isinstance(stop, IndexExpr) else IndexExpr(stop)
    if stop.known is not None and start + step >= stop.known:
        return body(IndexExpr(start), initial) if start < stop.known else initial
    values = [n.ssa for n in initial]
    loop = scf.ForOp(IndexExpr(start).ssa, stop.ssa, IndexExpr(step).ssa, values)
    with ir.InsertionPoint(loop.body):
        now = [n.with_ssa(v) for n, v in zip(initial, loop.inner_iter_args, strict=True)]
        scf.yield_([n.ssa for n in body(IndexExpr(loop.induction_variable), now)])
    return [n.with_ssa(v) for n, v in zip(initial, loop.results, strict=True)]


def carry_nest(
    shape: Sequence[int], initial: Carried, body: Callable[[list[IndexExpr], Carried], Carried]
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
    condition: Value, like: Value, if_true: Callable[[], Value], if_false: Callable[[], Value]
) -> Value:
    """Emit a branch that computes one of two numbers of `like`'s type: only one side is done."""
    branch = scf.IfOp(condition.ssa, [like.ssa.type], has_else=True)
    for block, make in ((branch.then_block, if_true), (branch.else_block, if_false)):
        with ir.InsertionPoint(block):
            scf.yield_([make().ssa])
    return like.with_ssa(branch.results[0])


def when(condition: Value, body: Callable[[], None]) -> None:
    """Emit an `if` without an else branch."""
    branch = scf.IfOp(condition.ssa)
    with ir.InsertionPoint(branch.then_block):
        body()
        scf.yield_([])
