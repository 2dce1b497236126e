"""`Reduction`: how partial results of a reduction are combined, in vectors and across lanes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ....dialects.core.mlir import ir
from ....dialects.core.tensor import DTYPES
from ...kernels.arithmetic import extreme_value
from .buffer import vector
from .value import (
    REASSOCIATE,
    UNSIGNED_ZEROS,
    Value,
    constant_of,
    element_type,
    fast_flags,
    is_strict,
)

Element = Callable[[Value], Value]


@dataclass(frozen=True)
class Reduction:
    """Describe a reduction: `element` maps each element, `finish` the result.

    `kind` combines two partial results: add, mul, max or min; `dtype` is the type of these.
    """

    kind: str
    dtype: str
    element: Element = lambda x: x
    finish: Element = lambda x: x

    @property
    def is_unordered(self) -> bool:
        """Return whether results do not depend on the order in which numbers are combined."""
        return self.kind in ("max", "min")

    def combine(self, a: Value, b: Value) -> Value:
        """Emit the combination of two partial results."""
        if self.kind == "add":
            return _sum(a, b)
        if self.kind == "mul":
            return a * b
        # x86 looks at the left one for NaN: at a new element, while the others are combined.
        return b.maximum(a) if self.kind == "max" else b.minimum(a)

    def combine_all(self, values: Sequence[Value]) -> Value:
        """Emit the combination of some partial results.

        The extreme of floats is that of numbers, unless any is NaN: one comparison tells of two.
        """
        if not self.is_unordered or not values[0].is_float or is_strict():
            return reduce(self.combine, values)
        numbers = reduce(self.choose, values)
        pairs = zip(values[::2], [*values[1::2], values[-1]][: len(values[::2])], strict=True)
        unordered = reduce(Value.logical_or, [a.is_unordered(b) for a, b in pairs])
        return unordered.select(numbers.like(float("nan")), numbers)

    def choose(self, a: Value, b: Value) -> Value:
        """Emit the extreme of two numbers; either where one is NaN."""
        return (a.greater(b) if self.kind == "max" else a.less(b)).select(a, b)

    def identity(self, width: int) -> Value:
        """Emit the neutral element in all lanes of a vector."""
        type_ = ir.VectorType.get([width], element_type(self.dtype))
        return Value(constant_of(self._identity(), self.dtype, type_), self.dtype)

    def _identity(self) -> float:
        if self.kind in ("add", "mul"):
            return 0 if self.kind == "add" else 1
        return extreme_value(self.dtype, least=self.kind == "max")

    def across(self, x: Value) -> Value:
        """Reduce the lanes of a vector to one scalar."""
        kind: Any = ir.Attribute.parse(f"#vector.kind<{self._vector_kind()}>")
        flags = fast_flags(UNSIGNED_ZEROS if self.is_unordered else REASSOCIATE)
        return x.with_ssa(vector.reduction(element_type(x.dtype), kind, x.ssa, fastmath=flags))

    def across_each(self, vectors: Sequence[Value]) -> Value:
        """Reduce the lanes of as many vectors as a vector has lanes: each to a lane of the result.

        Of the extremes of numbers and NaN, either is the result.
        """
        combine = self.choose if self.is_unordered else self.combine
        step, left = 1, list(vectors)
        while len(left) > 1:
            pairs = zip(left[::2], left[1::2], strict=True)
            left = [combine(*sorted_lanes(*pair, step)) for pair in pairs]
            step *= 2
        return left[0]

    def _vector_kind(self) -> str:
        if self.kind in ("add", "mul"):
            return self.kind
        signs = {"float": "imumf", "int": "si"}
        return self.kind + signs.get(DTYPES[self.dtype].kind, "ui")


def sorted_lanes(a: Value, b: Value, step: int) -> tuple[Value, Value]:
    """Sort the lanes of two vectors whose numbers have a bit, `step`, that is 0 or 1.

    Where it is 0 in the results, they have lanes of a, those where it was 0 and 1, else of b.
    """
    lanes = range(a.ssa.type.shape[0])
    width = len(lanes)
    low = [lane if not lane & step else width + lane - step for lane in lanes]
    high = [lane + step if not lane & step else width + lane for lane in lanes]
    one, other = (vector.shuffle(a.ssa, b.ssa, order) for order in (low, high))
    return a.with_ssa(one), a.with_ssa(other)


def _sum(total: Value, term: Value) -> Value:
    """Add a term; a product in one step, which where it is left to LLVM depends on loops."""
    product: Any = term.ssa.owner
    if is_strict() or getattr(product, "name", "") != "arith.mulf":
        return total + term
    x, y = (term.with_ssa(factor) for factor in product.operands)
    return x.fma(y, total)
