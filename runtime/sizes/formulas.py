"""One function that computes all sizes of a package from the values of its symbols."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

from ..errors import PackageError
from .code import write_function
from .polynomials import (
    Polynomial,
    add,
    as_number,
    divided,
    is_short,
    multiply,
    number,
    subtract,
    variable,
)
from .size_expressions import MOST, MOST_BITS_OF_VALUES, MOST_OPERATIONS, Size, SizeReader

_FUNCTIONS: dict[str, Callable[[int, int], int]] = {"max": max, "min": min, "|": int.__or__}
_RING: dict[str, Callable[[Polynomial, Polynomial], Polynomial]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
}


class Formulas:
    """Collect expressions, and make one function that computes them from the values of symbols.

    What expressions have in common is computed once. A formula is a polynomial of variables of the
    function: the symbols, and quotients, maxima and minima.
    """

    def __init__(self, symbols: Sequence[str]) -> None:
        self.parameters = [f"p{i}" for i in range(len(symbols))]
        """The variables that are the values of the symbols, in order."""
        self._named = {s: variable(p) for s, p in zip(symbols, self.parameters, strict=True)}
        self._read: dict[str, Polynomial] = {}
        self.groups: dict[str, Polynomial] = {}
        """What has been read between parentheses."""
        self._known: dict[str, str] = {}
        self._texts: dict[Polynomial, str] = {}
        self.lines: dict[str, str] = {}
        """Operations by the names of the variables that they give: each may use earlier ones."""
        self._bits = dict.fromkeys(self.parameters, MOST.bit_length())

    def define(self, name: str, formula: Polynomial) -> None:
        """Let the expressions that are read from now on use a formula by a name."""
        self._named[name] = formula

    def read(self, size: Size | str, where: str = "") -> Polynomial:
        """Return the formula of a size; raise PackageError, with its place, for a bad text."""
        text = size
        if not isinstance(text, str):
            return number(text)
        if text not in self._read:
            try:
                self._read[text] = SizeReader(self, text).read()
            except ValueError as error:
                shown = text if len(text) <= 40 else f"{text[:40]}..."
                raise PackageError(f"'{where}' is the size '{shown}', {error}") from None
        return self._read[text]

    def symbol(self, name: str) -> Polynomial:
        """Return the formula of a name; raise ValueError for one that is not defined."""
        if name not in self._named:
            known = ", ".join(map(repr, self._named)) or "none"
            raise ValueError(f"there is no symbol '{name}'; known are {known[:200]}")
        return self._named[name]

    def operate(self, operator: str, left: Polynomial, right: Polynomial) -> Polynomial:
        """Return the formula of `+`, `-`, `*`, `//` or `&` of two others."""
        if operator not in _RING:
            code = f"{self.text(left)} {operator} {self.text(right)}"
            return self._result(code, left, right)
        if operator == "*" and self._bits_of(left) + self._bits_of(right) > MOST_BITS_OF_VALUES:
            raise PackageError(f"has a size that may have more than {MOST_BITS_OF_VALUES} bits")
        result = _RING[operator](left, right)
        return result if is_short(result) else _RING[operator](self.named(left), self.named(right))

    def named(self, formula: Polynomial) -> Polynomial:
        """Return a formula as one variable, if it is no number."""
        if as_number(formula) is not None:
            return formula
        return self._result(self.text(formula), formula)

    def call(self, function: str, formulas: Iterable[Polynomial]) -> Polynomial:
        """Return the formula of `max`, `min` or `|` of others; one alone is its own."""
        given = self._folded(function, dict.fromkeys(formulas))
        if len(given) == 1:
            return given[0]
        return self._result(_code_of_call(function, list(map(self.text, given))), *given)

    def _folded(self, function: str, formulas: Iterable[Polynomial]) -> list[Polynomial]:
        """Return the operands of a function with one number in place of several."""
        values = {each: as_number(each) for each in formulas}
        others = [each for each, value in values.items() if value is None]
        numbers = [value for value in values.values() if value is not None]
        return [*others, number(reduce(_FUNCTIONS[function], numbers))] if numbers else others

    def product(self, formulas: Iterable[Polynomial], factor: int) -> Polynomial:
        """Return the formula of a product."""
        result = number(factor)
        for each in formulas:
            result = self.operate("*", result, each)
        return result

    def function(self, *groups: Sequence[Polynomial]) -> Callable[..., tuple[tuple[int, ...], ...]]:
        """Return a function of the values of the symbols, in order.

        It returns a tuple of the values of the formulas of each group.
        """
        listed = [list(map(self.text, group)) for group in groups]
        code = write_function(self.parameters, self.lines, listed)
        scope: dict[str, Callable[..., tuple[tuple[int, ...], ...]]] = {}
        exec(code, {"__builtins__": {}, "max": max, "min": min}, scope)
        return scope["compute"]

    def _result(self, code: str, *operands: Polynomial) -> Polynomial:
        """Return the variable for code whose value is at most the greatest of its operands."""
        name = self._variable(code)
        self._bits.setdefault(name, max(map(self._bits_of, operands)))
        return variable(name)

    def _bits_of(self, formula: Polynomial) -> int:
        """Return how many bits the values of a formula have at most."""
        terms = (c.bit_length() + sum(self._bits[name] for name in m) for m, c in formula)
        return max(terms, default=0) + len(formula).bit_length()

    def _variable(self, code: str) -> str:
        """Return the name of the variable, or the number, that some code is the value of."""
        if code.isalnum():
            return code
        if code not in self._known:
            if len(self.lines) == MOST_OPERATIONS:
                raise PackageError(f"has more than {MOST_OPERATIONS} operations on sizes")
            self._known[code] = f"v{len(self.lines)}"
            self.lines[self._known[code]] = code
        return self._known[code]

    def text(self, formula: Polynomial) -> str:
        """Return the name of a variable with the value of a formula, or a number."""
        if formula not in self._texts:
            self._texts[formula] = self._written(formula)
        return self._texts[formula]

    def _written(self, formula: Polynomial) -> str:
        value = as_number(formula)
        if value is not None:  # Python refuses thousands of digits that are not hexadecimal
            return str(value) if abs(value) <= MOST else hex(value)
        factor, common, rest = divided(formula)
        names = common if as_number(rest) == 1 else (*common, self._sum(rest))
        product = self._product(names)
        if factor == 1:
            return product
        return self._variable(f"-{product}" if factor == -1 else f"{factor} * {product}")

    def _sum(self, terms: Polynomial) -> str:
        code = ""
        for monomial, coefficient in terms:
            factor = abs(coefficient)
            text = self._product(monomial) if monomial else str(factor)
            text = text if factor == 1 or not monomial else f"{factor} * {text}"
            sign = "-" if coefficient < 0 else "+"
            code = f"{code} {sign} {text}" if code or coefficient < 0 else text
        return self._variable(code.strip())

    def _product(self, names: Sequence[str]) -> str:
        result = names[0]
        for name in names[1:]:
            result = self._variable(f"{result} * {name}")
        return result


def _code_of_call(function: str, operands: Sequence[str]) -> str:
    """Return the code of a function of names and numbers; of two, a call takes twice as long."""
    if function == "|":
        return " | ".join(operands)
    if len(operands) > 2:
        return f"{function}({', '.join(operands)})"
    one, other = operands
    return f"{one} if {one} {'>' if function == 'max' else '<'} {other} else {other}"
