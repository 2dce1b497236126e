"""Print operations on sizes as C, whose functions are in `template/sizes.c`."""

import ast
from collections.abc import Mapping

from ...dialects.core.errors import CompileError
from ...runtime.sizes.formulas import Formulas
from ...runtime.sizes.polynomials import Polynomial
from ...runtime.sizes.size_expressions import MOST
from ...targets.cpu.c.spelling import literal

_CHECKED: Mapping[type[ast.operator], str] = {
    ast.Add: "plus",
    ast.Sub: "minus",
    ast.Mult: "product",
    ast.FloorDiv: "quotient",
}
"""The functions of operations that may have no result of 64 bits: `wide` is then set."""

_BITS: Mapping[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|"}
_CALLS: Mapping[str, str] = {"max": "larger", "min": "smaller"}


class SizeCode:
    """Print the lines that compute formulas, each where its value is first asked for."""

    def __init__(self, formulas: Formulas) -> None:
        self._formulas = formulas
        self._printed = set(formulas.parameters)
        self.lines: list[str] = []

    @property
    def parameters(self) -> list[str]:
        """Return the variables that are the values of symbols."""
        return self._formulas.parameters

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def value(self, formula: Polynomial) -> str:
        """Return the variable, or the number, that is the value of a formula."""
        root = ast.parse(self._formulas.text(formula), mode="eval").body
        self._print(_names(root))
        return _spelled(root)

    def _print(self, names: list[str]) -> None:
        """Print the lines of variables, those that they need first."""
        left = names
        while left:
            name = left[-1]
            if name in self._printed:
                left.pop()
                continue
            code = ast.parse(self._formulas.lines[name], mode="eval").body
            if needed := [each for each in _names(code) if each not in self._printed]:
                left += needed
                continue
            self._printed.add(name)
            self.emit(f"const i64 {name} = {_spelled(code)};")


def _names(node: ast.expr) -> list[str]:
    found = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
    return [name for name in found if name not in _CALLS]


def _spelled(node: ast.expr) -> str:
    """Return an expression of Python, of those that formulas have, as one of C."""
    match node:
        case ast.Name():
            return node.id
        case ast.Constant(value=int(number)):
            if number > MOST:
                raise CompileError("the model has a size of more than 64 bits: compile a package")
            return literal(number, "i64")
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return f"-{_spelled(node.operand)}"
        case ast.UnaryOp(op=ast.USub()):
            return f"minus(0, {_spelled(node.operand)}, &wide)"
        case ast.BinOp():
            left, right, kind = _spelled(node.left), _spelled(node.right), type(node.op)
            if kind in _BITS:
                return f"({left} {_BITS[kind]} {right})"
            return f"{_CHECKED[kind]}({left}, {right}, &wide)"
        case ast.IfExp(test=ast.Compare(ops=[ast.Gt()])):
            return f"larger({_spelled(node.body)}, {_spelled(node.orelse)})"
        case ast.IfExp():
            return f"smaller({_spelled(node.body)}, {_spelled(node.orelse)})"
        case ast.Call(func=ast.Name(id=function)):
            first, *others = map(_spelled, node.args)
            for other in others:
                first = f"{_CALLS[function]}({first}, {other})"
            return first
        case _:
            raise AssertionError(f"no size is {ast.unparse(node)}")
