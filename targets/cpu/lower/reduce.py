"""Lowerings of reductions: vectors along the last dimension, whether it is reduced or kept."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from ....dialects import tri
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import DTYPES, Shape, numpy_dtype
from ..kernels import approximation
from ..kernels.buffer import Buffer, Lanes, tail_mask, vector
from ..kernels.builder import KernelBuilder
from ..kernels.conversion import convert
from ..kernels.epilogue import Epilogue, each_vector
from ..kernels.index import IndexExpr, carry, carry_nest
from ..kernels.loops import each
from ..kernels.value import (
    REASSOCIATE,
    Value,
    compute_dtype,
    constant_of,
    element_type,
    fast_flags,
)
from ..kernels.value import math as math_dialect
from ..kernels.windows import repeated
from ..registry import template

Element = Callable[[Value], Value]

_UNROLL = 4
"""Vectors that are accumulated side by side, so that one need not wait for the other."""


@dataclass(frozen=True)
class Reduction:
    """Describe a reduction: each element goes through `element`, the result through `finish`.

    `kind` is how two are combined: add, mul, max or min; `dtype` is the type that happens in.
    """

    kind: str
    dtype: str
    element: Element = lambda x: x
    finish: Element = lambda x: x

    def combine(self, a: Value, b: Value) -> Value:
        if self.kind == "add":
            return a + b
        if self.kind == "mul":
            return a * b
        return a.maximum(b) if self.kind == "max" else a.minimum(b)

    def identity(self, width: int) -> Value:
        """Emit what a reduction of nothing gives, in all lanes."""
        type_ = ir.VectorType.get([width], element_type(self.dtype))
        return Value(constant_of(self._identity(), self.dtype, type_), self.dtype)

    def _identity(self) -> float:
        if self.kind in ("add", "mul"):
            return 0 if self.kind == "add" else 1
        if DTYPES[self.dtype].kind == "float":
            return -math.inf if self.kind == "max" else math.inf
        if DTYPES[self.dtype].kind == "bool":
            return 0 if self.kind == "max" else 1
        info = np.iinfo(numpy_dtype(self.dtype))
        return int(info.min if self.kind == "max" else info.max)

    def across(self, x: Value) -> Value:
        """Reduce the lanes of a vector to one scalar."""
        kind: Any = ir.Attribute.parse(f"#vector.kind<{self._vector_kind()}>")
        flags = fast_flags(REASSOCIATE)
        return x.with_ssa(vector.reduction(element_type(x.dtype), kind, x.ssa, fastmath=flags))

    def _vector_kind(self) -> str:
        if self.kind in ("add", "mul"):
            return self.kind
        signs = {"float": "imumf", "int": "si"}
        return self.kind + signs.get(DTYPES[self.dtype].kind, "ui")


class Walk:
    """See a tensor as few dimensions, each reduced or kept, and walk it with vectors."""

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
        lanes, length = kernel.lanes(x.dtype, dtype), self.dims[-1][1]
        self.width = lanes * _UNROLL if length >= lanes * _UNROLL else lanes

    @property
    def kept(self) -> Shape:
        return tuple(size for reduced, size in self.dims if not reduced)

    def each(self, body: Callable[[list[IndexExpr], Lanes | None], None]) -> None:
        """Visit all kept places: one by one when vectors lie along the reduced last dimension."""
        if self.along:
            each(self.kept, lambda at: body(at, None))
        else:
            each_vector(self.kept, self.width, body)

    def fold(
        self, how: Reduction, element: Element, at: list[IndexExpr], lanes: Lanes | None
    ) -> Value:
        """Reduce the elements at a kept place, or at neighbouring ones."""
        if self.along:
            return self._fold_along(how, element, at)
        start = how.identity(lanes.width) if lanes else how.across(how.identity(1))

        def step(inner: list[IndexExpr], now: list[Value]) -> list[Value]:
            return [how.combine(now[0], element(self._load(at, inner, lanes)))]

        return carry_nest(self._reduced, [start], step)[0]

    @property
    def _reduced(self) -> Shape:
        return tuple(size for reduced, size in self.dims if reduced)

    def _fold_along(self, how: Reduction, element: Element, at: list[IndexExpr]) -> Value:
        *outer, length = self._reduced
        width, full = self.width, length - length % self.width

        def row(inner: list[IndexExpr], now: list[Value]) -> list[Value]:
            def step(i: IndexExpr, now: list[Value]) -> list[Value]:
                loaded = self._load(at, [*inner, i], Lanes(width))
                return [how.combine(now[0], element(loaded))]

            total = carry(full, now, step, step=width)
            if length == full:
                return total
            lanes = Lanes(width, tail_mask(width, length - full))
            rest = element(self._load(at, [*inner, IndexExpr(full)], lanes))
            kept = Value(lanes.mask, "i1").select(rest, how.identity(width))
            return [how.combine(total[0], kept)]

        return how.across(carry_nest(tuple(outer), [how.identity(width)], row)[0])

    def _load(self, kept: list[IndexExpr], reduced: list[IndexExpr], lanes: Lanes | None) -> Value:
        places, others = iter(kept), iter(reduced)
        at = [next(others) if is_reduced else next(places) for is_reduced, _ in self.dims]
        return self.x.load(at, lanes)


def _reduce(op: Op, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue, how: Reduction) -> None:
    walk = Walk(kernel, x, op.attributes["axes"], how.dtype)
    kept = epilogue.reshape(walk.kept)

    def place(at: list[IndexExpr], lanes: Lanes | None) -> None:
        total = walk.fold(how, lambda e: how.element(convert(e, how.dtype)), at, lanes)
        kept.store(convert(how.finish(total), x.dtype), at, lanes)

    walk.each(place)


def _wide(dtype: str) -> str:
    """Return the float type that a reduction to a fraction is computed in."""
    return compute_dtype(dtype) if DTYPES[dtype].kind == "float" else "f64"


def _count(op: Op, x: Buffer) -> int:
    axes: Sequence[int] = op.attributes["axes"]
    return math.prod(x.shape[axis] for axis in axes)


@template(tri.ReduceSum)
def lower_reduce_sum(
    op: tri.ReduceSum, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    _reduce(op, kernel, x, epilogue, Reduction("add", compute_dtype(x.dtype)))


@template(tri.ReduceProd)
def lower_reduce_prod(
    op: tri.ReduceProd, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    _reduce(op, kernel, x, epilogue, Reduction("mul", compute_dtype(x.dtype)))


@template(tri.ReduceMean)
def lower_reduce_mean(
    op: tri.ReduceMean, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    wide = {"int": "i64", "uint": "ui64"}.get(DTYPES[x.dtype].kind, compute_dtype(x.dtype))
    count = _count(op, x)
    _reduce(op, kernel, x, epilogue, Reduction("add", wide, finish=lambda total: total / count))


@template(tri.ReduceMax)
def lower_reduce_max(
    op: tri.ReduceMax, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    _reduce(op, kernel, x, epilogue, Reduction("max", compute_dtype(x.dtype)))


@template(tri.ReduceMin)
def lower_reduce_min(
    op: tri.ReduceMin, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    _reduce(op, kernel, x, epilogue, Reduction("min", compute_dtype(x.dtype)))


@template(tri.ReduceL1)
def lower_reduce_l1(op: tri.ReduceL1, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue) -> None:
    _reduce(op, kernel, x, epilogue, Reduction("add", compute_dtype(x.dtype), Value.abs))


def _square(x: Value) -> Value:
    return x * x


@template(tri.ReduceSumSquare)
def lower_reduce_sum_square(
    op: tri.ReduceSumSquare, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    _reduce(op, kernel, x, epilogue, Reduction("add", compute_dtype(x.dtype), _square))


@template(tri.ReduceL2)
def lower_reduce_l2(op: tri.ReduceL2, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue) -> None:
    def root(total: Value) -> Value:
        return total.apply(math_dialect.sqrt)

    _reduce(op, kernel, x, epilogue, Reduction("add", _wide(x.dtype), _square, root))


@template(tri.ReduceLogSum)
def lower_reduce_log_sum(
    op: tri.ReduceLogSum, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    _reduce(op, kernel, x, epilogue, Reduction("add", _wide(x.dtype), finish=approximation.log))


@template(tri.ReduceLogSumExp)
def lower_reduce_log_sum_exp(
    op: tri.ReduceLogSumExp, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    dtype = _wide(x.dtype)
    walk = Walk(kernel, x, op.axes, dtype)
    kept = epilogue.reshape(walk.kept)
    highest, total = Reduction("max", dtype), Reduction("add", dtype)

    def place(at: list[IndexExpr], lanes: Lanes | None) -> None:
        top = walk.fold(highest, lambda e: convert(e, dtype), at, lanes)
        top = top.abs().less(math.inf).select(top, 0)
        shift = repeated(top, Lanes(walk.width)) if walk.along else top

        def power(e: Value) -> Value:
            return approximation.exp(convert(e, dtype) - shift)

        kept.store(
            convert(approximation.log(walk.fold(total, power, at, lanes)) + top, x.dtype), at, lanes
        )

    walk.each(place)
