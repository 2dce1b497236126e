"""The symbols of a module: declared by an attribute of a function, known to its context.

    func.func @main(…) attributes {trivium.symbols = {N = "1..", T = "1..512:128/8"}}

A name has one range in a context, so that equal types have equal text.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from weakref import WeakKeyDictionary

from .errors import Invalid
from .mlir import ir
from .sizes.atoms import Size
from .sizes.checks import Check
from .sizes.dim import symbol, symbols_of
from .sizes.parse import parse_size
from .sizes.symbols import Range, need_symbol_name

SYMBOLS = "trivium.symbols"
"""The attribute of a function that declares symbols: the text of a range by name."""

CHECKS = "trivium.checks"
"""The attribute of a function that has what must hold of the sizes of a run."""


class SymbolTable:
    """Hold the ranges of the symbols of a context, and the sizes that names stand for in texts."""

    def __init__(self) -> None:
        self.ranges: dict[str, Range] = {}
        self.sizes: dict[str, Size] = {}
        self._read: dict[str, Size] = {}

    def declare(self, name: str, range: Range) -> Size:
        """Declare a symbol and return its size; raise Invalid where it has another range."""
        need_symbol_name(name)
        known = self.ranges.get(name)
        if known == range:
            return self.sizes[name]
        if known is not None:
            raise Invalid(f"symbol '{name}' has range {range}, was declared with {known}")
        size = symbol(name, range)
        atoms = {each: symbol(each, atom.range) for each, atom in symbols_of(size).items()}
        for each, its in (atoms | {name: size}).items():
            if self.sizes.setdefault(each, its) != its:
                raise Invalid(f"symbol '{name}' has a step, and another symbol is named '{each}'")
        self.ranges[name] = range
        return size

    def parse(self, text: str) -> Size:
        """Return the size that a text spells; raises Invalid as `parse_size`."""
        if text not in self._read:
            self._read[text] = parse_size(text, self.sizes)
        return self._read[text]


_TABLES: WeakKeyDictionary[ir.Context, SymbolTable] = WeakKeyDictionary()


def symbol_table(context: ir.Context) -> SymbolTable:
    """Return the symbols of a context."""
    found = _TABLES.get(context)
    if found is None:
        found = _TABLES[context] = SymbolTable()
    return found


def declare_symbols(function: ir.Operation) -> None:
    """Declare the symbols of a function in its context; raise Invalid for a faulty attribute."""
    table = symbol_table(function.context)
    for name, range in symbols_of_function(function).items():
        table.declare(name, range)


def symbols_of_function(function: ir.Operation) -> Mapping[str, Range]:
    """Return the ranges of the symbols of a function; raise Invalid for a faulty attribute."""
    if SYMBOLS not in function.attributes:
        return MappingProxyType({})
    attribute = function.attributes[SYMBOLS]
    try:
        return {named.name: Range.parse(_text(named.attr)) for named in attribute}
    except (TypeError, AttributeError, ValueError) as error:
        raise Invalid(
            f"attribute '{SYMBOLS}' is {attribute}, must have a range by name: {error}"
        ) from None


def _text(attribute: ir.Attribute) -> str:
    if not isinstance(attribute, ir.StringAttr):
        raise TypeError(f"{attribute} is not a string")
    return attribute.value


def set_symbols(function: ir.Operation, ranges: Mapping[str, Range]) -> None:
    """Write the symbols of a function; no attribute where there are none."""
    if ranges:
        texts = {name: ir.StringAttr.get(str(range)) for name, range in ranges.items()}
        function.attributes[SYMBOLS] = ir.DictAttr.get(texts)
    elif SYMBOLS in function.attributes:
        del function.attributes[SYMBOLS]


def set_checks(function: ir.Operation, checks: Iterable[Check]) -> None:
    """Write what must hold of the sizes of a run; no attribute where nothing is left to check."""
    listed = [
        ir.DictAttr.get(
            {
                "expression": ir.StringAttr.get(str(check.expression)),
                "message": ir.StringAttr.get(check.message),
                "node": ir.StringAttr.get(check.node),
                "relation": ir.StringAttr.get(check.relation),
            }
        )
        for check in checks
    ]
    if listed:
        function.attributes[CHECKS] = ir.ArrayAttr.get(listed)
    elif CHECKS in function.attributes:
        del function.attributes[CHECKS]


def checks_of(function: ir.Operation) -> tuple[Check, ...]:
    """Return what must hold of the sizes of a run; raise Invalid for a faulty attribute."""
    if CHECKS not in function.attributes:
        return ()
    attribute, table = function.attributes[CHECKS], symbol_table(function.context)
    checks: list[Check] = []
    try:
        for each in attribute:
            texts = {named.name: _text(named.attr) for named in each}
            expression = table.parse(texts.pop("expression"))
            checks.append(Check(expression, **texts))
    except (TypeError, AttributeError, KeyError, ValueError):
        raise Invalid(
            f"attribute '{CHECKS}' is {attribute}, must list expression, relation, message, node"
        ) from None
    return tuple(checks)
