"""Arithmetic on f64 values of the IR, written as arithmetic."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ....dialects import tri
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size
from .values import cast, constant, number

Arithmetic: TypeAlias = tri.Add | tri.Sub | tri.Mul | tri.Div | tri.Maximum | tri.Minimum


@dataclass(frozen=True)
class Real:
    """Hold an f64 tensor; operators build ops, which broadcast."""

    value: ir.Value

    @staticmethod
    def of(operand: "Operand") -> "Real":
        """Return a number as a value."""
        return operand if isinstance(operand, Real) else _constant(operand)

    def __add__(self, other: "Operand") -> "Real":
        return self._apply(tri.Add, other)

    def __sub__(self, other: "Operand") -> "Real":
        return self._apply(tri.Sub, other)

    def __mul__(self, other: "Operand") -> "Real":
        return self._apply(tri.Mul, other)

    def __truediv__(self, other: "Operand") -> "Real":
        return self._apply(tri.Div, other)

    def at_least(self, other: "Operand") -> "Real":
        return self._apply(tri.Maximum, other)

    def at_most(self, other: "Operand") -> "Real":
        return self._apply(tri.Minimum, other)

    def floor(self) -> "Real":
        return Real(tri.Floor.build(self.value).y)

    def ceil(self) -> "Real":
        return Real(tri.Ceil.build(self.value).y)

    def abs(self) -> "Real":
        return Real(tri.Abs.build(self.value).y)

    def less(self, other: "Operand") -> ir.Value:
        return tri.Less.build(self.value, Real.of(other).value).y

    def cast(self, dtype: str) -> ir.Value:
        return cast(self.value, dtype)

    def _apply(self, op: type[Arithmetic], other: "Operand") -> "Real":
        return Real(op.build(self.value, Real.of(other).value).y)


Operand: TypeAlias = Real | float


def real(size: Size) -> Real:
    """Return a size as a number."""
    return Real(cast(number(size), "f64"))


def chosen(condition: ir.Value, a: Real, b: Operand) -> Real:
    """Return `a` where a condition holds, and `b` elsewhere."""
    return Real(tri.Where.build(condition, a.value, Real.of(b).value).y)


def _constant(number: float) -> Real:
    return Real(constant(np.array(number, np.float64)))
