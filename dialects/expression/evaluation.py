"""Evaluate expressions in any domain: types, arrays, or ops that are being built.

There are two ways, and both need no recursion: reverse Polish with a stack, from the tree; and
prefix order from right to left, from the tokens. They agree.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..core.errors import Invalid
from .functions import Function
from .tokens import Leaf, Literal, Reference, Token
from .tree import Formula, Node

Value = TypeVar("Value")
Apply = Callable[[Function, Sequence[Value]], Value]


def evaluate(
    formula: Formula, leaf: Callable[[Leaf], Value], apply: Apply[Value]
) -> tuple[Value, ...]:
    """Return the value of each tree; `leaf` returns that of a leaf, `apply` that of a function."""
    return tuple(_evaluate(root, leaf, apply) for root in formula.roots)


def _evaluate(root: Node, leaf: Callable[[Leaf], Value], apply: Apply[Value]) -> Value:
    stack: list[Value] = []
    for node in root.postfix():
        if not isinstance(node.symbol, Function):
            stack.append(leaf(node.symbol))
            continue
        first = len(stack) - len(node.arguments)
        arguments = stack[first:]
        del stack[first:]
        stack.append(apply(node.symbol, arguments))
    return stack.pop()


def evaluate_tokens(
    tokens: Sequence[Token], leaf: Callable[[Leaf], Value], apply: Apply[Value]
) -> tuple[Value, ...]:
    """Return the values of `evaluate`, from the tokens of an expression without errors."""
    stack: list[Value] = []
    for token in reversed(tokens):
        if isinstance(token.symbol, str):
            continue
        if isinstance(token.symbol, Function):
            arguments = [stack.pop() for _ in range(token.arity)]
            stack.append(apply(token.symbol, arguments))
        else:
            stack.append(leaf(token.symbol))
    return tuple(reversed(stack))


def given(operands: Sequence[Any]) -> Callable[[Leaf], Any]:
    """Return a function that looks up leaves: operands by number, literals unchanged.

    Raises Invalid for a number that no operand has.
    """

    def leaf(symbol: Leaf) -> Any:
        if isinstance(symbol, Literal):
            return symbol.value
        if symbol.index >= len(operands):
            raise Invalid(f"expression names @{symbol.index}, there are {len(operands)} operands")
        return operands[symbol.index]

    return leaf


def renamed(formula: Formula, leaves: Sequence[Leaf]) -> Formula:
    """Put another leaf in the place of each operand: another number, or a literal."""

    def leaf(symbol: Leaf) -> Node:
        return Node(leaves[symbol.index] if isinstance(symbol, Reference) else symbol)

    roots = evaluate(formula, leaf, lambda function, nodes: Node(function, tuple(nodes)))
    return Formula(roots, formula.is_list)
