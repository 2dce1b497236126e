"""`--verify-diagnostics`: which comments meet which messages."""

import pytest
from trivium.dialects.core.errors import CompileError
from trivium.tools.opt.diagnostics import Message
from trivium.tools.opt.expectations import check, expectations
from trivium.tools.opt.source import Source


def source(text: str, first_line: int = 1) -> Source:
    return Source("f.mlir", text, first_line)


def error(line: int, text: str = "op is odd", severity: str = "error") -> Message:
    return Message(severity, f"f.mlir:{line}:1", text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x // expected-error {{odd}}", 1),
        ("// expected-error@below {{odd}}\nx", 2),
        ("// expected-error @below {{odd}}\n// expected-note @above {{n}}\nx", 3),
        ("x\n// expected-error @above {{odd}}", 1),
        ("x\n// expected-error @above {{odd}}\n// expected-error @above {{odd}}", 1),
        ("// expected-error @+3 {{odd}}", 4),
        ("\n\n\n// expected-error @-2 {{odd}}", 2),
    ],
)
def test_places(text: str, line: int) -> None:
    assert {e.line for e in expectations(source(text)) if e.severity == "error"} == {line}


@pytest.mark.parametrize(
    ("comment", "text"),
    [
        ("expected-error {{op is}}", "op is odd"),
        ("expected-error {{a.c (x)}}", "got a.c (x)"),
        ("expected-error {{{a}}}", "is {a} here"),
        ("expected-error-re {{value {{%[0-9]+}} (x)}}", "value %12 (x) is odd"),
    ],
)
def test_texts(comment: str, text: str) -> None:
    assert check(source(f"// {comment}"), [error(1, text)]) == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("expected-error {{odd}}", error(1, "even")),
        ("expected-error {{odd}}", error(2)),
        ("expected-error {{odd}}", error(1, severity="warning")),
        ("expected-error {{o.d}}", error(1)),
        ("expected-error-re {{o.d}}", error(1)),
        ("expected-error @unknown {{odd}}", error(1)),
    ],
)
def test_what_differs_is_reported_from_both_sides(comment: str, message: Message) -> None:
    wrong = check(source(f"// {comment}"), [message])
    assert [str(w).split(" ")[2] for w in wrong] == ["unexpected", "expected"]


def test_every_message_needs_an_expectation_of_its_own() -> None:
    wrong = check(source("// expected-error {{odd}}"), [error(1), error(1)])
    assert [str(w) for w in wrong] == ["f.mlir:1:1: error: unexpected error: op is odd"]


def test_every_expectation_needs_a_message_of_its_own() -> None:
    text = "// expected-error @+2 {{odd}}\n// expected-error @+1 {{odd}}\n"
    wrong = check(source(text), [error(3)])
    assert [str(w) for w in wrong] == ['f.mlir:2:1: error: expected error "odd" was not reported']


def test_message_without_a_line() -> None:
    text = "// expected-error @unknown {{odd}}"
    assert check(source(text), [Message("error", "Conv_12", "odd")]) == []
    assert len(check(source(text), [Message("error", "g.mlir:1:1", "even")])) == 2


def test_notes_count_but_for_the_one_with_the_operation() -> None:
    notes = [error(1, "see current operation: x", "note"), error(1, "prior use", "note")]
    wrong = check(source(""), notes)
    assert [str(w) for w in wrong] == ["f.mlir:1:1: error: unexpected note: prior use"]


def test_lines_are_those_of_the_whole_file() -> None:
    piece = source("// expected-error @below {{odd}}\nx", first_line=10)
    assert check(piece, [Message("error", "-:11:1", "odd")]) == []


@pytest.mark.parametrize(
    "line",
    [
        "// expected-eror {{x}}",
        "// expected-error @bellow {{x}}",
        "// expected-error {x}",
        "// expected-error",
        "// expected-error {{x}} and more",
    ],
)
def test_what_only_looks_like_an_expectation(line: str) -> None:
    with pytest.raises(CompileError, match=r"f\.mlir:2:1: error: '.*' is not an expectation"):
        expectations(source(f"\n{line}"))
