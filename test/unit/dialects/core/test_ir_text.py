"""Text on which MLIR's parser would crash or hang is refused with its place."""

import pytest
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.ir.parser import text_of_ir
from trivium.dialects.core.ir.text import DEEPEST, MOST_DIGITS, check_text

OP = '"a.b"() {{x = {}}} : () -> ()\n'
DEEP = 100_000


@pytest.mark.parametrize(
    "text",
    [
        OP.format("[" * DEEP + "]" * DEEP),
        OP.format("tuple<" * DEEP + "i1" + ">" * DEEP),
        OP.format("() -> (" * DEEP + ")" * DEEP),
        '"a.b"() ({' * DEEP + "}) : () -> ()\n" * DEEP,
        '"a.b"() : () -> () loc(' + "fused[" * DEEP + "unknown" + "]" * DEEP + ")",
        "affine_set<(d) : (d >= 0)> >= >= " * DEEP + "[" * DEEP,
    ],
    ids=["list", "type", "function type", "region", "location", "comparisons"],
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(CompileError, match=f"^a.mlir:1:.*nested more than {DEEPEST} deep$"):
        check_text(text, "a.mlir")


def test_a_number_of_many_digits_is_refused_with_its_place() -> None:
    text = "// a comment\n" + OP.format("7" * (MOST_DIGITS + 1) + " : i64")
    with pytest.raises(CompileError, match=r"^a.mlir:2:14: error: word has more than 1000 digits$"):
        check_text(text, "a.mlir")


def test_a_string_that_is_not_utf8_is_refused_with_its_place() -> None:
    with pytest.raises(CompileError, match=r'^a.mlir:2:14: error: string "\\C3\\28" is not UTF-8$'):
        check_text("\n" + OP.format(r'"\C3\28"'), "a.mlir")


@pytest.mark.parametrize(
    "value",
    [
        '"' + "[" * DEEP + '"',
        r'"\C3\A9 \\FF \""',
        'dense<"0x' + "0" * (2 * MOST_DIGITS) + '"> : tensor<250xf32>',
        f'1 : i64 // {"(" * DEEP} "\\FF"\n',
        "[" * (DEEPEST - 5) + "]" * (DEEPEST - 5),
    ],
    ids=["brackets in a string", "escapes", "digits in a string", "comment", "deep enough"],
)
def test_other_text_is_accepted(value: str) -> None:
    check_text(OP.format(value), "a.mlir")


def test_bytes_that_are_neither_text_nor_bytecode_are_refused() -> None:
    with pytest.raises(CompileError, match=r"'a\.mlir' is neither text nor MLIR bytecode"):
        text_of_ir(b"\xff\xfe", "a.mlir")
