"""The symbols and checks of functions: attributes that are written, read and refused."""

from collections.abc import Iterator

import pytest
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.sizes.checks import Check
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.symbol_table import (
    CHECKS,
    SYMBOLS,
    SymbolTable,
    checks_of,
    declare_symbols,
    set_checks,
    set_symbols,
    symbol_table,
    symbols_of_function,
)

RANGES = {"N": Range(), "T": Range(1, 512, likely=128, step=8)}


@pytest.fixture(autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context


@pytest.fixture
def module() -> Module:
    return Module.parse("func.func @main() { return }")


def test_symbols_are_written_and_read(module: Module) -> None:
    set_symbols(module.main, RANGES)
    assert str(module.main.attributes[SYMBOLS]) == '{N = "1..", T = "1..512:128/8"}'
    assert symbols_of_function(module.main) == RANGES
    declare_symbols(module.main)
    assert symbol_table(module.main.context).ranges == RANGES
    set_symbols(module.main, {})
    assert SYMBOLS not in module.main.attributes
    assert not symbols_of_function(module.main)


def test_checks_are_written_and_read(module: Module) -> None:
    set_symbols(module.main, RANGES)
    declare_symbols(module.main)
    n = symbol("N")
    checks = (
        Check(n * n - 4, ">=", "kernel spans 4", "conv_1"),
        Check(n - n // 2 * 2, "==", "is odd"),
    )
    set_checks(module.main, checks)
    assert checks_of(module.main) == checks
    with new_context(), ir.Location.unknown():
        text = str(module).replace("@main()", '@main(%x: tensor<?xf32, ["N"]>)')
        assert checks_of(Module.parse(text).main) == checks
    set_checks(module.main, [])
    assert CHECKS not in module.main.attributes
    assert checks_of(module.main) == ()


def test_a_name_has_one_range_in_a_context() -> None:
    table = SymbolTable()
    assert table.declare("T", Range(1, 9)) == table.declare("T", Range(1, 9))
    with pytest.raises(Invalid, match=r"'T' has range 1\.\.8, was declared with 1\.\.9"):
        table.declare("T", Range(1, 8))


def test_contexts_have_symbols_of_their_own(module: Module) -> None:
    set_symbols(module.main, RANGES)
    declare_symbols(module.main)
    with new_context() as other, ir.Location.unknown():
        assert not symbol_table(other).ranges


def test_a_symbol_with_a_step_is_a_multiple_of_another_name() -> None:
    table = SymbolTable()
    declared = table.declare("T", Range(8, 64, step=8))
    assert str(declared) == "8*T_8"
    assert table.parse("8*T_8") == declared == table.parse("T")
    with pytest.raises(Invalid, match="another symbol is named 'T_8'"):
        table.declare("T_8", Range())


def test_a_symbol_of_one_size_is_that_size() -> None:
    table = SymbolTable()
    assert table.declare("T", Range(7, 7)) == 7
    assert table.parse("2*T + 1") == 15


@pytest.mark.parametrize("name", ["", "1T", "a-b", "max", "min", "ä"])
def test_names_are_words_that_are_not_reserved(name: str) -> None:
    with pytest.raises(Invalid, match="is not a name of letters"):
        SymbolTable().declare(name, Range())


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ('"N"', "must have a range by name"),
        ("{N = 3}", "must have a range by name"),
        ('{N = "3"}', r"must be a range such as 3\.\.3"),
        ('{N = "5..2"}', "must have a range by name"),
        ('{max = "1.."}', "symbol 'max' is not a name"),
    ],
)
def test_faulty_declarations_are_refused(attribute: str, message: str) -> None:
    text = f"func.func @main() attributes {{{SYMBOLS} = {attribute}}} {{ return }}"
    with pytest.raises(CompileError, match=message):
        Module.parse(text)
