"""Lowerings of reductions: vectors along the last dimension, whether it is reduced or kept."""

import math
from collections.abc import Callable, Sequence
from itertools import groupby

from ....dialects import tri
from ....dialects.core.op import Op
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import Shape
from ...kernels.arithmetic import compute_dtype, float_dtype, mean_dtype
from ...kernels.conversion import convert
from ..kernels.buffer import Buffer, Lanes, tail_mask
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue, each_vector
from ..kernels.functions import approximation
from ..kernels.index import IndexExpr, carry, carry_nest, least, replaced_if, when
from ..kernels.loops import each
from ..kernels.reduction import Element, Reduction
from ..kernels.value import Value
from ..kernels.windows import repeated
from ..registry import template

_UNROLL = 4
"""Vectors that are accumulated side by side, so that one need not wait for the other."""


class Walk:
    """View a tensor as few dimensions, each reduced or kept, and loop over it with vectors."""

    def __init__(self, kernel: KernelBuilder, x: Buffer, axes: Sequence[int], dtype: str) -> None:
        dims = [(axis in axes, size) for axis, size in enumerate(x.shape) if size != 1]
        self.dims = [
            (reduced, math.prod(size for _, size in run))
            for reduced, run in groupby(dims, lambda dim: dim[0])
        ]
        if not self.dims:
            self.dims = [(False, 1)]
        self.along = self.dims[-1][0]
        self.x = x.reshape(tuple(size for _, size in self.dims))
        self._lanes, self._length = kernel.lanes(x.dtype, dtype), self.dims[-1][1]
        self._wide = self._lanes * _UNROLL
        at_hand = self._length if self.decided else likely(self._length)
        self.width = self._wide if at_hand >= self._wide else self._lanes

    @property
    def decided(self) -> bool:
        """Return whether it is known how wide vectors are."""
        return at_least(self._length, self._wide) is not None

    @property
    def kept(self) -> Shape:
        return tuple(size for reduced, size in self.dims if not reduced)

    def each(self, body: Callable[[list[IndexExpr], Lanes | None], None]) -> None:
        """Visit all kept indices, one by one if vectors are along the reduced last dimension."""
        if self.along:
            each(self.kept, lambda at: self._by_width(lambda: body(at, None)))
        else:
            each_vector(self.kept, self.width, body)

    def _by_width(self, body: Callable[[], None]) -> None:
        """Emit code for each width that vectors along a reduced row may have: sums depend on it."""
        if self.decided:
            body()
            return
        long = least(self._length // self._wide, 1)
        for width, wanted in ((self._wide, 1), (self._lanes, 0)):
            self.width = width
            when(IndexExpr(long).equal(wanted), body)

    def reduce(
        self,
        how: Reduction,
        element: Element,
        at: list[IndexExpr],
        lanes: Lanes | None,
    ) -> Value:
        """Reduce the elements at a kept place, or at neighbouring ones."""
        if self.along:
            return self._reduce_along(how, element, at)
        start = how.identity(lanes.width) if lanes else how.across(how.identity(1))

        def step(inner: list[IndexExpr], now: list[Value]) -> list[Value]:
            return [how.combine(now[0], element(self._load(at, inner, lanes)))]

        return carry_nest(self._reduced, [start], step)[0]

    @property
    def _reduced(self) -> Shape:
        return tuple(size for reduced, size in self.dims if reduced)

    def _reduce_along(self, how: Reduction, element: Element, at: list[IndexExpr]) -> Value:
        *outer, length = self._reduced
        width, full = self.width, length - length % self.width

        def row(inner: list[IndexExpr], now: list[Value]) -> list[Value]:
            def step(i: IndexExpr, now: list[Value]) -> list[Value]:
                loaded = self._load(at, [*inner, i], Lanes(width))
                return [how.combine(now[0], element(loaded))]

            (total,) = carry(full, now, step, step=width)

            def with_rest() -> Value:
                lanes = Lanes(width, tail_mask(width, length - full))
                rest = element(self._load(at, [*inner, IndexExpr(full)], lanes))
                kept = Value(lanes.mask, "i1").select(rest, how.identity(width))
                return how.combine(total, kept)

            return [replaced_if(least(length - full, 1), total, with_rest)]

        return how.across(carry_nest(tuple(outer), [how.identity(width)], row)[0])

    def _load(self, kept: list[IndexExpr], reduced: list[IndexExpr], lanes: Lanes | None) -> Value:
        places, others = iter(kept), iter(reduced)
        at = [next(others) if is_reduced else next(places) for is_reduced, _ in self.dims]
        return self.x.load(at, lanes)


def _reduce(op: Op, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue, how: Reduction) -> None:
    walk = Walk(kernel, x, op.attributes["axes"], how.dtype)
    kept = epilogue.reshape(walk.kept)

    def place(at: list[IndexExpr], lanes: Lanes | None) -> None:
        total = walk.reduce(how, lambda e: how.element(convert(e, how.dtype)), at, lanes)
        kept.store(convert(how.finish(total), x.dtype), at, lanes)

    walk.each(place)


def _count(op: Op, x: Buffer) -> Size:
    axes: Sequence[int] = op.attributes["axes"]
    return math.prod(x.shape[axis] for axis in axes)


@template(tri.ReduceMean)
def lower_reduce_mean(
    op: tri.ReduceMean, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    wide = mean_dtype(x.dtype)
    count = _count(op, x)
    _reduce(op, kernel, x, epilogue, Reduction("add", wide, finish=lambda total: total / count))


def _square(x: Value) -> Value:
    return x * x


def _root(total: Value) -> Value:
    return total.apply("sqrt")


_REDUCTIONS: dict[type[Op], Callable[[str], Reduction]] = {
    tri.ReduceSum: lambda dtype: Reduction("add", compute_dtype(dtype)),
    tri.ReduceProd: lambda dtype: Reduction("mul", compute_dtype(dtype)),
    tri.ReduceMax: lambda dtype: Reduction("max", compute_dtype(dtype)),
    tri.ReduceMin: lambda dtype: Reduction("min", compute_dtype(dtype)),
    tri.ReduceL1: lambda dtype: Reduction("add", compute_dtype(dtype), Value.abs),
    tri.ReduceSumSquare: lambda dtype: Reduction("add", compute_dtype(dtype), _square),
    tri.ReduceL2: lambda dtype: Reduction("add", float_dtype(dtype), _square, _root),
    tri.ReduceLogSum: lambda dtype: Reduction("add", float_dtype(dtype), finish=approximation.log),
}
"""The reduction of each op, for an element type."""


@template(*_REDUCTIONS)
def lower_reduction(op: Op, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    _reduce(op, kernel, x, y, _REDUCTIONS[type(op)](x.dtype))


@template(tri.ReduceLogSumExp)
def lower_reduce_log_sum_exp(
    op: tri.ReduceLogSumExp, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    dtype = float_dtype(x.dtype)
    walk = Walk(kernel, x, op.axes, dtype)
    kept = epilogue.reshape(walk.kept)
    highest, total = Reduction("max", dtype), Reduction("add", dtype)

    def place(at: list[IndexExpr], lanes: Lanes | None) -> None:
        top = walk.reduce(highest, lambda e: convert(e, dtype), at, lanes)
        top = top.abs().less(math.inf).select(top, 0)
        shift = repeated(top, Lanes(walk.width)) if walk.along else top

        def power(e: Value) -> Value:
            return approximation.exp(convert(e, dtype) - shift)

        result = approximation.log(walk.reduce(total, power, at, lanes)) + top
        kept.store(convert(result, x.dtype), at, lanes)

    walk.each(place)
