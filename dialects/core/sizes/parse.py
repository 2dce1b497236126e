"""Read sizes from text: the inverse of `str`."""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import reduce

from ..errors import Invalid
from .atoms import Size
from .dim import floordiv, highest, lowest

_LONGEST, _DEEPEST = 4096, 64

_OPERATORS: dict[type, Callable[[Size, Size], Size]] = {
    ast.Mult: operator.mul,
    ast.FloorDiv: floordiv,
}
_FUNCTIONS: dict[str, Callable[..., Size]] = {"max": highest, "min": lowest}


def parse_size(text: str, symbols: Mapping[str, Size]) -> Size:
    """Return the size that a text spells, such as `(H + 1)//2`; `symbols` are sizes by name.

    Raises Invalid for a text that is no expression of +, -, *, //, max and min, that names another
    symbol, or that divides by 0.
    """
    try:
        if len(text) > _LONGEST:
            raise ValueError(f"has {len(text)} characters, must have at most {_LONGEST}")
        return _value(ast.parse(text.strip(), mode="eval").body, symbols, _DEEPEST)
    except SyntaxError:
        reason = "is not an expression"
    except (ValueError, ZeroDivisionError, RecursionError, MemoryError) as error:
        reason = str(error) or "is nested too deeply"
    raise Invalid(f"size '{text[:80]}' {reason}: it must have names, integers, + - * //, max, min")


def _value(node: ast.expr, symbols: Mapping[str, Size], depth: int) -> Size:
    if not depth:
        raise ValueError(f"is nested deeper than {_DEEPEST} levels")

    def value(inner: ast.expr) -> Size:
        return _value(inner, symbols, depth - 1)

    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            if name not in symbols:
                raise ValueError(f"has symbol '{name}', which is not declared")
            return symbols[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value(operand)
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return sum(map(value, _terms(node)))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](value(left), value(right))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as given, keywords=[]) if (
            name in _FUNCTIONS
        ):
            return reduce(_FUNCTIONS[name], map(value, given))
        case _:
            raise ValueError("is not a size")


def _terms(node: ast.expr) -> list[ast.expr]:
    """Return what a chain of + and - adds, so that a long sum is one level and not one for each."""
    terms: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        negated = isinstance(node.op, ast.Sub)
        terms.append(ast.UnaryOp(ast.USub(), node.right) if negated else node.right)
        node = node.left
    return [node, *reversed(terms)]
