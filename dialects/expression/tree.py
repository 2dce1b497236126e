"""The syntax tree of an expression; read and printed without recursion: real ones are deep."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..core.errors import Invalid
from .functions import Function
from .tokens import Leaf, Reference, Token, check_brackets, tokenize


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Node:
    """One function with its arguments, or a leaf: an operand or a literal."""

    symbol: Function | Leaf
    arguments: tuple["Node", ...] = ()

    def postfix(self) -> list["Node"]:
        """List all nodes in reverse Polish order: each behind its arguments."""
        order: list[Node] = []
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            order.append(node)
            pending += node.arguments
        return order[::-1]

    def __str__(self) -> str:
        parts: list[str] = []
        pending: list[Node | str] = [self]
        while pending:
            item = pending.pop()
            if isinstance(item, str):
                parts.append(item)
                continue
            parts.append(_spelled(item.symbol))
            if item.arguments:
                between = [part for node in item.arguments for part in (",", node)]
                pending += [")", *reversed(between[1:]), "("]
        return "".join(parts)


@dataclass(frozen=True, eq=False, repr=False)
class Formula:
    """A parsed expression: one tree, or a list of trees, `[size(@0,0),-1]`.

    `str()` of it is the canonical text, which reads back to the same.
    """

    roots: tuple[Node, ...]
    is_list: bool = False

    def __str__(self) -> str:
        text = ",".join(map(str, self.roots))
        return f"[{text}]" if self.is_list else text

    @property
    def references(self) -> list[int]:
        """List the numbers of the operands that are named, without repeats, in order."""
        symbols = [node.symbol for root in self.roots for node in root.postfix()]
        return sorted({symbol.index for symbol in symbols if isinstance(symbol, Reference)})


@dataclass
class _Call:
    token: Token
    arguments: list[Node]


@lru_cache(maxsize=256)
def parse(text: str) -> Formula:
    """Read an expression, driven by the number of arguments that each function takes.

    Raises Invalid, with a column, for any other text.
    """
    tokens = tokenize(text)
    is_list = bool(tokens) and tokens[0].symbol == "["
    if is_list:
        first, *tokens = tokens
        if not tokens or tokens[-1].symbol != "]":
            raise Invalid(f"expression has '[' at column {first.column} without its ']' at the end")
        tokens = tokens[:-1]
    roots = _trees(tokens, text)
    if not roots and not is_list:
        raise Invalid("expression is empty")
    if len(roots) > 1 and not is_list:
        surplus = tokens[len(roots[0].postfix())]
        raise Invalid(f"expression has '{surplus.text}' at column {surplus.column}, behind its end")
    check_brackets(text)
    return Formula(tuple(roots), is_list)


def _trees(tokens: Sequence[Token], text: str) -> list[Node]:
    """Read one tree after another."""
    roots: list[Node] = []
    calls: list[_Call] = []
    for token in tokens:
        if isinstance(token.symbol, str):
            where = f"'{token.symbol}' at column {token.column}"
            raise Invalid(f"expression has {where}, lists must be around all of it")
        calls.append(_Call(token, []))
        while calls and len(calls[-1].arguments) == calls[-1].token.arity:
            done = calls.pop()
            assert not isinstance(done.token.symbol, str)
            node = Node(done.token.symbol, tuple(done.arguments))
            (calls[-1].arguments if calls else roots).append(node)
    if calls:
        call = calls[-1]
        have = f"{len(call.arguments)} of {call.token.arity} arguments"
        what = f"'{call.token.text}' at column {call.token.column} has {have}"
        raise Invalid(f"expression ends at column {len(text) + 1}, where {what}")
    return roots


def _spelled(symbol: Function | Leaf) -> str:
    if isinstance(symbol, Function):
        return symbol.name
    if isinstance(symbol, Reference):
        return f"@{symbol.index}"
    return repr(symbol.value).strip("()")
