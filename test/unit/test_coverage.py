"""Every op is in a lit test, and so is every message of every verifier."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from trivium import dialects
from trivium.dialects.core.discovery import import_all
from trivium.dialects.core.op import OPS

ROOT = Path(__file__).resolve().parents[2]
LIT = ROOT / "test" / "dialects"

ELSEWHERE = {
    "dialects/core/interpret.py",  # raised when IR is run, not when it is verified
    "dialects/tile/interpret.py",
    "dialects/core/numerics/integers.py",
    "dialects/core/arguments.py",  # of functions in Python: test_arguments.py
    "dialects/dla/interpret.py",
    "dialects/core/sizes/binding.py",  # of shapes of arrays: test_binding.py
    "dialects/core/sizes/symbols.py",  # of attributes of functions: test_symbol_table.py
    "dialects/core/ir/string_elements.py",  # of arrays: test_string_elements.py
    "dialects/core/symbol_table.py",
}
AT_RUN_TIME = {
    "index * is outside [*, *) of axis *",
    "region is of image *, must be in [0, *)",
    "sequence_lens is *, must be in [0, *]",
    "* * is outside [0, *)",
    "rows * to * are outside [0, *)",
    "casts * to a float, must be a number",
    "casts * to an integer, must be one",
    "has * bytes that are no image that Pillow reads",
    "finds * and * for size *",
    "finds * for size *, must be *",
    "puts out tensors of shapes * and *, must be of one",
    "finds size *, must be at most *",
    "tree * is deeper than *",
}
OF_OTHERS = {"is of '*' alone, stands in a * for '*'", "* has * for '*', must have a string"}
"""What can only be said of dialects and dimensions of types outside of Trivium.

test_own_ops.py and test_type_dimensions.py have them.
"""


def templates(path: Path) -> Iterator[str]:
    """Yield the texts of `raise Invalid(…)` in a file, with `*` for what is filled in."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        call = node.exc
        if isinstance(call.func, ast.Name) and call.func.id == "Invalid":
            yield template(call.args[0])


def template(text: ast.expr) -> str:
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    return "".join(str(p.value) if isinstance(p, ast.Constant) else "*" for p in parts)


SOURCES = [p for p in sorted((ROOT / "dialects").rglob("*.py")) if p.name != "errors.py"]
MESSAGES = [
    (file, text)
    for file, path in ((str(p.relative_to(ROOT)), p) for p in SOURCES)
    for text in templates(path)
    if file not in ELSEWHERE and text not in AT_RUN_TIME | OF_OTHERS
]
EXPECTED = [
    text
    for path in LIT.rglob("*-invalid.mlir")
    for text in re.findall(r"expected-error.*?\{\{(.*)\}\}", path.read_text())
]


@pytest.mark.parametrize(("file", "text"), MESSAGES)
def test_every_message_is_expected_somewhere(file: str, text: str) -> None:
    words = text.removeprefix("*").removesuffix("*").split("*")
    pattern = re.compile(".*".join(re.escape(part) for part in words))
    assert any(pattern.search(expected) for expected in EXPECTED), file


def test_every_op_goes_round_trip() -> None:
    import_all(dialects.__name__)
    texts = [p.read_text() for p in LIT.rglob("*.mlir") if not p.stem.endswith("-invalid")]
    present = {name for text in texts for name in re.findall(r'"(\w+\.\w+)"\(', text)}
    shipped = {name for name, cls in OPS.items() if cls.__module__.startswith("trivium.")}
    assert shipped - present == set()
