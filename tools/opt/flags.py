"""The command line of `trivium-opt`."""

import re
from collections.abc import Sequence
from typing import Any

from ..arguments import add_option
from ..terminal import Parser
from .pass_table import pass_table

VALUE_FLAGS = {
    "--target=NAME": "run the default pipeline of a target",
    "--stop-after=PASS": "end the pipeline after this pass",
    "--list-phases=NAME": "list the phases of a target and the passes of each",
    "--mlir-elide-elementsattrs-if-larger=N": "print no constants of more than N elements",
}
LISTING = "listing"
"""The form of `--emit` that is for the IR of any target."""

SWITCHES = {
    "--split-input-file": "treat the pieces between `// -----` lines as files of their own",
    "--verify-diagnostics": "check messages against `// expected-error {{…}}` comments",
    "--allow-unregistered-dialect": "let ops of unknown dialects pass",
    "--mlir-print-debuginfo": "print locations",
    "--mlir-print-ir-before-all": "print the IR before each pass",
    "--mlir-print-ir-after-all": "print the IR after each pass",
    "--mlir-print-ir-after-change": "print the IR after each pass that changed it",
    "--mlir-print-ir-after-failure": "print the IR after a pass that failed",
    "--mlir-print-ir-module-scope": "print whole modules, never functions alone",
    "--mlir-timing": "print the time that each pass took",
    "--list-passes": "list Trivium's passes",
    "--list-targets": "list the targets",
    "--list-formats": "list the formats of models",
}
LISTED = {
    "--debug=PASSES": "say why patterns of these passes left ops alone",
    "--mlir-print-ir-before=PASSES": "print the IR before these passes",
    "--mlir-print-ir-after=PASSES": "print the IR after these passes",
}


class OptParser(Parser):
    """List the passes at the end of the help."""

    def format_help(self) -> str:
        return f"{super().format_help()}\npasses, run in the order given:\n{pass_table()}\n"


def parser(version: str) -> Parser:
    """Make the parser for everything but pass flags, which it leaves over."""
    made = OptParser(
        prog="trivium-opt",
        description="Read IR or a model, run passes of Trivium or MLIR on it, write IR.",
        usage="trivium-opt [FILE] [--PASS[=OPTIONS] ...] [flags]",
        allow_abbrev=False,
    )
    made.add_argument(
        "file",
        nargs="?",
        default="-",
        metavar="FILE",
        help="IR, or a model (.onnx, .param) or package (.trv); `-` is standard input",
    )
    made.add_argument("-o", dest="output", default="-", metavar="FILE", help="output file")
    made.add_argument(
        "-p",
        "--pass-pipeline",
        metavar="TEXT",
        help="passes as `builtin.module(a,b{c=1})` or `a,b`",
    )
    add_option(made, "plugins")
    add_option(made, "shapes")
    for spelling, text in (VALUE_FLAGS | LISTED).items():
        flag, _, metavar = spelling.partition("=")
        kind: Any = int if metavar == "N" else _names if spelling in LISTED else str
        default: list[str] | None = [] if spelling in LISTED else None
        made.add_argument(flag, metavar=metavar, default=default, type=kind, help=text)
    for flag, text in SWITCHES.items():
        made.add_argument(flag, action="store_true", help=text)
    made.add_argument(
        "--verify-each", choices=("true", "false"), default="true", help="check the IR after passes"
    )
    made.add_argument(
        "--emit",
        metavar="FORM",
        help=f"print kernels in a form that a target offers, or a line for each op ({LISTING}), "
        "instead of the IR; the error for an unknown form lists them",
    )
    made.add_argument("--version", action="version", version=f"trivium-opt {version}")
    return made


def _names(text: str) -> list[str]:
    return text.split(",")


def double_dashes(arguments: Sequence[str]) -> list[str]:
    """Give long flags two dashes: like mlir-opt, `-split-input-file` works too."""
    return [f"-{a}" if re.match(r"-[a-z][\w-]+(=|$)", a) else a for a in arguments]


def known_flags() -> list[str]:
    """List the long flags that a misspelt one is compared with."""
    valued = [flag.partition("=")[0] for flag in VALUE_FLAGS | LISTED]
    return [*SWITCHES, *valued, "--shape", "--plugin", "--verify-each", "--emit"]
