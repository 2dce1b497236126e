"""Expressions with sizes that depend on symbols: what is a size is computed, the rest is an op."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....dialects.core.errors import Undecided
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.tensor import Tensor
from ....dialects.expression import (
    Formula,
    Function,
    Literal,
    Node,
    Reference,
    evaluate,
    given,
    infer,
)


@dataclass(frozen=True)
class Reduced:
    """An expression in which no sizes are computed: `value` is its type, or what it is.

    `sizes` are operands of `formula` after those of the expression itself.
    """

    value: Any
    formula: Formula
    sizes: tuple[Size, ...]


@dataclass(frozen=True)
class _Term:
    value: Any
    node: Node


def depends_on_symbols(described: Sequence[Any]) -> bool:
    """Return whether operands, types and known values, have sizes that depend on symbols."""
    return any(
        any(map(is_symbolic, each.shape)) if isinstance(each, Tensor) else is_symbolic(each)
        for each in described
    )


def reduced(formula: Formula, described: Sequence[Any]) -> Reduced:
    """Compute the sizes in an expression of one root, of operands with such types and values."""
    terms = _Terms(described)
    (root,) = evaluate(formula, terms.leaf, terms.apply)
    return Reduced(root.value, Formula((terms.node(root),)), tuple(terms.sizes))


class _Terms:
    def __init__(self, described: Sequence[Any]) -> None:
        self._described = described
        self._given = given(described)
        self.sizes: dict[Size, int] = {}

    def leaf(self, symbol: Reference | Literal) -> _Term:
        return _Term(self._given(symbol), Node(symbol))

    def apply(self, function: Function, terms: Sequence[_Term]) -> _Term:
        values = [term.value for term in terms]
        try:
            made = infer(function, values)
        except Undecided:  # not a size, but a number all the same, as torch computes it in a trace
            made = infer(function, [Tensor((), "i64") if is_symbolic(v) else v for v in values])
        if isinstance(made, Tensor):
            return _Term(made, Node(function, tuple(map(self.node, terms))))
        return _Term(made, Node(Literal(None if is_symbolic(made) else made)))

    def node(self, term: _Term) -> Node:
        """Return the node of a term; a size is an operand more."""
        if not is_symbolic(term.value):
            return term.node
        index = self.sizes.setdefault(term.value, len(self._described) + len(self.sizes))
        return Node(Reference(index))
