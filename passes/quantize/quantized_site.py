"""One result that is quantised, as integers are to compute it: its operands, bounds and scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import Invalid, Unsupported
from ...dialects.core.mlir import ir
from ...dialects.core.numerics.fixed_point import common_shift, fixed_point
from ...dialects.core.op import Op
from ...dialects.core.quantized import QuantizedType
from ...dialects.core.tensor import Array
from ..building import cast, sub
from ..rewriting import NoMatch, Rewriter

SUMS = "i32"
"""The element type of sums of products."""

MOST_QUOTIENT = 1 << 61
"""What products and divisors of an exact division are below."""

MOVES = (tri.Reshape, tri.Transpose, tri.Slice)
"""Ops that mean the same on integers as on the numbers that these stand for."""


@dataclass(frozen=True)
class Quantity:
    """Hold a quantised value, and its type as plain Python."""

    value: ir.Value
    kind: QuantizedType

    @property
    def scale(self) -> float:
        """Return the one scale; NoMatch when there are several."""
        if self.kind.axis is not None:
            raise NoMatch(f"operand has {len(self.kind.scales)} scales, must have one")
        return self.kind.scales[0]

    @property
    def largest(self) -> int:
        """Return how far an integer may be from its zero point."""
        return max(max(self.kind.high - z, z - self.kind.low) for z in self.kind.zero_points)

    def stored(self) -> ir.Value:
        """Build the integers as they are held."""
        return tri.StorageCast.build(self.value, to=self.kind.storage).y

    def centered(self) -> ir.Value:
        """Build the integers without their zero point, of i32."""
        wide = cast(self.stored(), SUMS)
        zeros = set(self.kind.zero_points)
        if zeros == {0}:
            return wide
        if len(zeros) == 1:
            return sub(wide, zeros.pop())
        rank = tensor_of(self.value.type).rank
        shape = (-1, *[1] * (rank - 1 - (self.kind.axis or 0)))
        array = np.array(self.kind.zero_points, np.int32).reshape(shape)
        return sub(wide, tri.Constant.build(value=array).y)


@dataclass(frozen=True)
class Site:
    """Hold what is quantised: the op that computes it, and the bounds in between.

    `ops` are the ops that become one: the activations, and `op`, if it is not a dequantisation.
    """

    source: ir.Value
    ops: tuple[Op, ...]
    kind: QuantizedType
    low: int
    high: int
    rounding: str
    bits: int
    rewriter: Rewriter

    def quantity(self, value: ir.Value) -> Quantity:
        """Look through a dequantisation of bytes or words; NoMatch where there is none.

        What moves numbers after it moves the integers instead.
        """
        made = self.rewriter.find_producer(value)
        if isinstance(made, MOVES):
            return _moved(made, self.quantity(made.x))
        op = self.rewriter.producer(value, tri.Dequantize)
        kind = QuantizedType.parse(op.of)
        if kind.storage == SUMS:
            raise NoMatch("operand is held in i32")
        return Quantity(op.x, kind)

    @property
    def clamps(self) -> bool:
        """Return whether some integers of the type are out of bounds."""
        return (self.low, self.high) != (self.kind.low, self.kind.high)

    def shifts(self, factors: Sequence[float] | Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return multipliers and shifts for factors, those of the scale of the result included."""
        numbers = [float(factor) for factor in factors]
        if len(set(numbers)) == 1:
            numbers = numbers[:1]
        try:
            pairs = [fixed_point(number, self.bits) for number in numbers]
        except Unsupported as reason:
            raise NoMatch(str(reason)) from None
        return tuple(m for m, _ in pairs), tuple(s for _, s in pairs)

    def common(
        self, terms: Sequence[Quantity], factors: Sequence[float]
    ) -> tuple[tuple[int, ...], int]:
        """Return a multiplier for each term, and the shift that all have in common."""
        try:
            return common_shift(factors, [term.largest for term in terms], self.bits)
        except Unsupported as reason:
            raise NoMatch(str(reason)) from None

    def requantized(self, x: ir.Value, factors: Sequence[float] | Array, axis: int = 0) -> ir.Value:
        """Build the integers of the result from sums that are `factors` of its scale."""
        multiplier, shift = self.shifts(factors)
        return self.shifted(x, multiplier, shift, axis)

    def mean(self, x: ir.Value, count: Array, factor: float, largest: int) -> ir.Value:
        """Build the integers of the result from sums up to `largest`, of `count` numbers each."""
        (multiplier,), (shift,) = self.shifts([factor])
        if largest * multiplier >= MOST_QUOTIENT or int(count.max()) << shift >= MOST_QUOTIENT:
            raise NoMatch(f"a mean with factor {factor:g} needs more than 64 bits")
        return tri.RequantizeMean.build(
            x,
            tri.Constant.build(value=count.astype(np.int32)).y,
            multiplier=multiplier,
            shift=shift,
            zero_point=self.kind.zero_points[0],
            low=self.low,
            high=self.high,
            to=self.kind.storage,
        ).y

    def shifted(
        self, x: ir.Value, multiplier: Sequence[int], shift: Sequence[int], axis: int = 0
    ) -> ir.Value:
        """Build the integers of the result from sums: multiplied, shifted, clamped."""
        return tri.Requantize.build(
            x,
            multiplier=tuple(multiplier),
            shift=tuple(shift),
            zero_point=self.kind.zero_points[0],
            low=self.low,
            high=self.high,
            rounding=self.rounding,
            axis=axis,
            to=self.kind.storage,
        ).y


def site_of(op: tri.Quantize, rounding: str, bits: int, rewriter: Rewriter) -> Site:
    """Look up from a quantisation through activations that bounds can stand for."""
    kind = QuantizedType.parse(op.to)
    if kind.axis is not None:
        raise NoMatch(f"quantises to {len(kind.scales)} scales, must be one")
    low, high, value = -math.inf, math.inf, op.x
    folded: list[Op] = []
    while isinstance(activation := rewriter.find_producer(value), (tri.Relu, tri.Clip)):
        least, most = (0.0, math.inf)
        if isinstance(activation, tri.Clip):
            least, most = activation.min, activation.max
        rewriter.sole_producer(value, type(activation))
        low, high = _within(least, low, high), _within(most, low, high)
        folded.append(activation)
        value = activation.x
    if (made := rewriter.find_producer(value)) is not None and not isinstance(made, tri.Dequantize):
        folded.append(rewriter.sole_producer(value, type(made)))
    bounds = [_integer(bound, kind) for bound in (low, high)]
    return Site(value, tuple(folded), kind, bounds[0], bounds[1], rounding, bits, rewriter)


def _moved(op: tri.Reshape | tri.Transpose | tri.Slice, x: Quantity) -> Quantity:
    try:
        value = type(op).build(x.value, **op.attributes).y
    except Invalid as reason:  # of scales that have no axis afterwards
        raise NoMatch(str(reason)) from None
    return Quantity(value, QuantizedType.parse(tensor_of(value.type).dtype))


def _within(number: float, low: float, high: float) -> float:
    return min(max(number, low), high)


def _integer(bound: float, kind: QuantizedType) -> int:
    """Return the integer that stands for a bound, within those of the type."""
    if math.isinf(bound):
        return kind.low if bound < 0 else kind.high
    return int(_within(round(bound / kind.scales[0]) + kind.zero_points[0], kind.low, kind.high))
