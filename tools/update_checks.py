"""Write the CHECK lines of a lit test anew from what its RUN line prints.

    python -m trivium.tools.update_checks test/passes/fuse-conv.mlir

Each function gets its label and one line for each op, values bound by name. Then delete by hand
what the test is not about: what stays should say what the test says.
"""

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from . import opt

_RUN = re.compile(r"//\s*RUN:\s*trivium-opt\s+(.*?)\s*\|\s*FileCheck\b")
_FUNCTION = re.compile(r"\s*func\.func (?:private |public )?@([\w.$-]+)")
_CHECK = re.compile(r"\s*// CHECK(-[A-Z]+(-\d+)?)?:")
_VALUE = re.compile(r"%[\w#]+")


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite the files named on the command line; 2 when one has no RUN line to follow."""
    for name in sys.argv[1:] if argv is None else argv:
        path = Path(name)
        text = path.read_text()
        run = _RUN.search(text)
        if run is None:
            print(f"{name}: no line `// RUN: trivium-opt … | FileCheck …`", file=sys.stderr)
            return opt.USAGE
        path.write_text(updated(text, _output(run[1], name)))
    return opt.OK


def updated(text: str, output: str) -> str:
    """Replace the CHECK lines above each function by ones for the function in the output."""
    blocks = checks(output)
    lines: list[str] = []
    for line in text.splitlines():
        if _CHECK.match(line):
            continue
        found = _FUNCTION.match(line)
        if found:
            lines += blocks.get(found[1], [])
        lines.append(line)
    return "\n".join(lines) + "\n"


def checks(output: str) -> dict[str, list[str]]:
    """Make the CHECK lines of each function in printed IR."""
    blocks: dict[str, list[str]] = {}
    block: list[str] = []
    names: dict[str, str] = {}
    for line in output.splitlines():
        found = _FUNCTION.match(line)
        if found:
            names = {}
            block = blocks[found[1]] = [f"// CHECK-LABEL: func.func @{found[1]}"]
            arguments = [f"{_bound(value, names)}: {{{{.*}}}}" for value in _VALUE.findall(line)]
            block += [f"// CHECK-SAME:    ({', '.join(arguments)})"] if arguments else []
        elif "=" in line or line.strip().startswith("return"):
            block.append(f"// CHECK:         {_bind_all(line.strip(), names)}")
    return blocks


def _bind_all(line: str, names: dict[str, str]) -> str:
    return _VALUE.sub(lambda value: _bound(value[0], names), line)


def _bound(value: str, names: dict[str, str]) -> str:
    """Spell a value as FileCheck does: bound where it is first seen, used afterwards."""
    value, _, number = value.partition("#")
    suffix = f"#{number}" if number else ""
    if value in names:
        return f"%[[{names[value]}]]{suffix}"
    names[value] = re.sub(r"^(?=\d)", "V", value[1:]).upper()
    return f"%[[{names[value]}:.*]]{suffix}"


def _output(flags: str, name: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        opt.main([name if part == "%s" else part for part in shlex.split(flags)])
    return printed.getvalue()


if __name__ == "__main__":
    sys.exit(main())
