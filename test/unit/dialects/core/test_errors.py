"""Messages for the user are one line each, whatever names a file puts into them."""

from trivium.dialects.core.errors import CompileError, Diagnostic, on_one_line
from trivium.runtime.errors import PackageError


def test_characters_that_are_not_printable_are_escaped() -> None:
    error = CompileError([Diagnostic("a\nb", "has 'x\x00\x1b[2J'", ("see\r\u2028",))])
    assert str(error) == "a\\nb: error: has 'x\\x00\\x1b[2J'\n  note: see\\r\\u2028"
    assert str(PackageError("entry 'a\nb'")) == "entry 'a\\nb'"


def test_printable_text_stays_as_it_is() -> None:
    assert on_one_line("'naïve' ∀ x … [1, 2]") == "'naïve' ∀ x … [1, 2]"


def test_a_very_long_message_says_what_it_leaves_out() -> None:
    line = on_one_line("a" * 10_000 + "end")
    assert len(line) < 1100
    assert "(9003 characters more)" in line
    assert line.endswith("end")
