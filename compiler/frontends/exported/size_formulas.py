"""Sizes as torch spells them, `Add(Symbol('s0', integer=True), Integer(1))`, evaluated. No MLIR."""

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....dialects.core.errors import Unsupported
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import highest, lowest


def _product(sizes: Sequence[Size]) -> Size:
    return math.prod(sizes)


def _power(sizes: Sequence[Size]) -> Size:
    base, power = sizes
    return math.prod([base] * int(power))


def _quotient(sizes: Sequence[Size]) -> Size:
    return sizes[0] // sizes[1]


def _remainder(sizes: Sequence[Size]) -> Size:
    return sizes[0] % sizes[1]


def _greatest(sizes: Sequence[Size]) -> Size:
    return highest(*sizes)


def _least(sizes: Sequence[Size]) -> Size:
    return lowest(*sizes)


_FUNCTIONS: dict[str, Callable[[Sequence[Size]], Size]] = {
    "Integer": _product,
    "Add": sum,
    "Mul": _product,
    "Pow": _power,
    "FloorDiv": _quotient,
    "CleanDiv": _quotient,
    "Mod": _remainder,
    "PythonMod": _remainder,
    "Max": _greatest,
    "Min": _least,
}


class UnknownSize(Exception):
    """A size depends on a symbol that only a run finds."""


def symbol_of(text: str) -> str:
    """Return the symbol that a formula is, empty where it is no symbol alone."""
    call = _parsed(text)
    return _name(call) if _is_call(call, "Symbol") else ""


def symbols_in(text: str) -> frozenset[str]:
    """Return the symbols that a formula depends on."""
    return frozenset(_name(each) for each in ast.walk(_parsed(text)) if _is_call(each, "Symbol"))


def evaluate(text: str, sizes: Mapping[str, Size]) -> Size:
    """Compute a size of the sizes of its symbols; raises UnknownSize where one has none."""
    return _value(_parsed(text), sizes)


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unsupported(f"has size '{text[:80]}', which is not supported") from None


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _name(call: Any) -> str:
    (first, *_) = call.args
    return str(first.value)


def _value(node: ast.expr, sizes: Mapping[str, Size]) -> Size:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, sizes)
    if _is_call(node, "Symbol"):
        if _name(node) not in sizes:
            raise UnknownSize
        return sizes[_name(node)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        function = _FUNCTIONS.get(node.func.id)
        if function is not None:
            return function([_value(each, sizes) for each in node.args])
    raise Unsupported(f"has size '{ast.unparse(node)[:80]}', which is not supported")
