"""Walk trees of products and sums, and gather what they are made of, whatever their order."""

import itertools

from ..dialects import tri
from ..dialects.core.mlir import ir
from ..dialects.core.op import Op
from .rewriting import Rewriter


class Chain:
    """Gather the factors of a product with their exponents, or the terms of a sum with signs.

    `parts` has them, but for constant numbers, which are joined in `number`. `ops` are those that
    were looked through: the outermost, and those below of which the value has no other use.
    """

    def __init__(self, rewriter: Rewriter, neutral: float) -> None:
        self.rewriter = rewriter
        self.number = neutral
        self.parts: dict[ir.Value, float] = {}
        self.ops: list[Op] = []

    def add_factor(self, value: ir.Value, exponent: float = 1) -> None:
        """Add a factor to a power, and look through products, quotients, roots and powers."""
        number = self.rewriter.find_scalar(value)
        if number is not None and (number > 0 or float(exponent).is_integer()) and number:
            self.number *= number**exponent
            return
        op = self._inner(value)
        match op:
            case tri.Mul():
                self._go_factors(op, (op.a, exponent), (op.b, exponent))
            case tri.Div():
                self._go_factors(op, (op.a, exponent), (op.b, -exponent))
            case tri.Reciprocal():
                self._go_factors(op, (op.x, -exponent))
            case tri.Sqrt():
                self._go_factors(op, (op.x, exponent / 2))
            case tri.Rsqrt():
                self._go_factors(op, (op.x, -exponent / 2))
            case tri.Neg() if float(exponent).is_integer():
                self.number *= (-1.0) ** exponent
                self._go_factors(op, (op.x, exponent))
            case tri.Pow() if (by := self.rewriter.find_scalar(op.b)) is not None:
                self._go_factors(op, (op.a, exponent * by))
            case _:
                self.parts[value] = self.parts.get(value, 0) + exponent

    def add_term(self, value: ir.Value, sign: float = 1) -> None:
        """Add a term with its sign, and look through sums and differences."""
        number = self.rewriter.find_scalar(value)
        if number is not None:
            self.number += number * sign
            return
        op = self._inner(value)
        match op:
            case tri.Add():
                self._go_terms(op, (op.a, sign), (op.b, sign))
            case tri.Sub():
                self._go_terms(op, (op.a, sign), (op.b, -sign))
            case tri.Neg():
                self._go_terms(op, (op.x, -sign))
            case _:
                self.parts[value] = self.parts.get(value, 0) + sign

    def _inner(self, value: ir.Value) -> Op | None:
        """Return the op to look through: the outermost, or one with a single use."""
        outermost = not self.ops and not self.parts
        if outermost or len(list(itertools.islice(value.uses, 2))) == 1:
            return self.rewriter.find_producer(value)
        return None

    def _go_factors(self, op: Op, *factors: tuple[ir.Value, float]) -> None:
        self.ops.append(op)
        for value, exponent in factors:
            self.add_factor(value, exponent)

    def _go_terms(self, op: Op, *terms: tuple[ir.Value, float]) -> None:
        self.ops.append(op)
        for value, sign in terms:
            self.add_term(value, sign)
