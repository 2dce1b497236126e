"""Walk trees of products and sums, and gather what they are made of, in any order."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from ...dialects import tri
from ...dialects.core.mlir import ir
from ...dialects.core.op import Op
from ..rewriting import Rewriter

Part = tuple[ir.Value, float]
"""A factor with its exponent, or a term with its sign."""

Visit = Callable[[ir.Value, float], Sequence[Part]]

LONGEST = 32
"""How many ops are looked through at most: more than any fragment that is looked for has."""


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
        self._walk(value, exponent, self._factor)

    def add_term(self, value: ir.Value, sign: float = 1) -> None:
        """Add a term with its sign, and look through sums and differences."""
        self._walk(value, sign, self._term)

    def _walk(self, value: ir.Value, weight: float, visit: Visit) -> None:
        """Visit a value and what each visit says is next: chains may be deep."""
        pending: list[Part] = [(value, weight)]
        while pending:
            pending += reversed(visit(*pending.pop()))

    def _factor(self, value: ir.Value, exponent: float) -> Sequence[Part]:
        number = self.rewriter.find_scalar(value)
        if number is not None and (number > 0 or float(exponent).is_integer()) and number:
            with np.errstate(over="ignore"):
                self.number *= float(np.power(number, exponent))
            return ()
        op = self._inner(value)
        match op:
            case tri.Mul():
                return self._through(op, (op.a, exponent), (op.b, exponent))
            case tri.Div():
                return self._through(op, (op.a, exponent), (op.b, -exponent))
            case tri.Reciprocal():
                return self._through(op, (op.x, -exponent))
            case tri.Sqrt():
                return self._through(op, (op.x, exponent / 2))
            case tri.Rsqrt():
                return self._through(op, (op.x, -exponent / 2))
            case tri.Neg() if float(exponent).is_integer():
                self.number *= (-1.0) ** exponent
                return self._through(op, (op.x, exponent))
            case tri.Pow() if (by := self.rewriter.find_scalar(op.b)) is not None:
                return self._through(op, (op.a, exponent * by))
            case _:
                self.parts[value] = self.parts.get(value, 0) + exponent
                return ()

    def _term(self, value: ir.Value, sign: float) -> Sequence[Part]:
        number = self.rewriter.find_scalar(value)
        if number is not None:
            self.number += number * sign
            return ()
        op = self._inner(value)
        match op:
            case tri.Add():
                return self._through(op, (op.a, sign), (op.b, sign))
            case tri.Sub():
                return self._through(op, (op.a, sign), (op.b, -sign))
            case tri.Neg():
                return self._through(op, (op.x, -sign))
            case _:
                self.parts[value] = self.parts.get(value, 0) + sign
                return ()

    def _through(self, op: Op, *parts: Part) -> Sequence[Part]:
        self.ops.append(op)
        return parts

    def _inner(self, value: ir.Value) -> Op | None:
        """Return the op to look through: the outermost, or one with a single use."""
        if len(self.ops) == LONGEST:
            return None
        outermost = not self.ops and not self.parts
        if outermost or len(list(itertools.islice(value.uses, 2))) == 1:
            return self.rewriter.find_producer(value)
        return None
