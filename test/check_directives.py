"""Check the comments that steer the lit tests: FileCheck and lit ignore every misspelt one."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FILES = sorted(
    path.relative_to(HERE)
    for suffix in ("mlir", "test")
    for path in HERE.rglob(f"*.{suffix}")
    if path.relative_to(HERE).parts[0] not in ("unit", "models")
)

_PREFIXES = re.compile(r"--check-prefix(?:es)?[= ]([\w,-]+)")
_DIRECTIVE = re.compile(r"\s*(?://|#)\s*([A-Za-z][\w-]*\s?[:：])")  # noqa: RUF001
_SEPARATOR = re.compile(r"\s*(?://|#) ?-{3,}\s*$")
_LIT = ("RUN", "XFAIL", "REQUIRES", "UNSUPPORTED", "END", "DEFINE", "REDEFINE")


def faults(text: str) -> list[str]:
    """List the lines that look like a directive or separator and are none."""
    checks = {"CHECK"} | {p for found in _PREFIXES.findall(text) for p in found.split(",")}
    suffix = r"(-(NEXT|SAME|DAG|NOT|LABEL|EMPTY|COUNT-\d+))?"
    known = re.compile(rf"(({'|'.join(checks)}){suffix}|{'|'.join(_LIT)}):")
    wrong = [] if "RUN:" in text else ["no RUN line"]
    for number, line in enumerate(text.splitlines(), 1):
        found = _DIRECTIVE.match(line)
        if found and found[1].isupper() and not known.fullmatch(found[1]):
            wrong.append(f"line {number}: '{found[1]}' is no directive")
        if _SEPARATOR.match(line) and line != "// -----":
            wrong.append(f"line {number}: '{line}' separates nothing")
    return wrong


@pytest.mark.parametrize("file", FILES, ids=str)
def test_directives(file: Path) -> None:
    assert faults((HERE / file).read_text()) == []


@pytest.mark.parametrize(
    "line",
    [
        "// CHEK: x",
        "// CHECK-NXT: x",
        "// CHECK：x",  # noqa: RUF001
        "// CHECK : x",
        "// CHECK_NOT: x",
        "// RUNS: x",
        "// ----",
        "// ------",
        "//-----",
    ],
)
def test_catches(line: str) -> None:
    assert len(faults(f"// RUN: x\n{line}\n")) == 1


@pytest.mark.parametrize(
    "line", ["// CHECK-COUNT-2: x", "// A fused op: it has two users.", "// ----- ", "// -----"]
)
def test_accepts(line: str) -> None:
    assert faults(f"// RUN: x\n{line.rstrip()}\n") == []


def test_finds_the_tests() -> None:
    assert FILES
