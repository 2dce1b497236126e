"""The command line of `trivium-opt`."""

import argparse
import dataclasses
import difflib
import re
from collections.abc import Sequence
from typing import Any

from .. import targets
from ..dialects.core.errors import CompileError
from ..passes.core import PASSES
from ..passes.hooks import EVERY
from ..passes.pipeline import Pipeline, import_all, load_passes
from ..targets.registry import find_target, target_names
from .terminal import Parser

OPT_LEVEL = 2
"""The level of optimisation of `--target`: the one that the compiler takes when not told."""

VALUE_FLAGS = {
    "--target=NAME": "run the default pipeline of a target",
    "--stop-after=PASS": "end the pipeline after this pass",
    "--list-phases=NAME": "list the phases of a target and the passes of each",
    "--mlir-elide-elementsattrs-if-larger=N": "print no constants of more than N elements",
}
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
}
LISTED = {
    "--debug=PASSES": "say why patterns of these passes left ops alone",
    "--mlir-print-ir-before=PASSES": "print the IR before these passes",
    "--mlir-print-ir-after=PASSES": "print the IR after these passes",
}


class OptParser(Parser):
    """List the passes at the end of the help, and load what has them only then."""

    def format_help(self) -> str:
        return f"{super().format_help()}\npasses, run in the order given:\n{pass_table()}\n"


def parser(version: str) -> Parser:
    """Make the parser for everything but pass flags, which it leaves over."""
    made = OptParser(
        prog="trivium-opt",
        description="Read IR, run passes of Trivium or MLIR on it, write IR.",
        usage="trivium-opt [FILE] [--PASS[=OPTIONS] ...] [flags]",
        allow_abbrev=False,
    )
    made.add_argument("file", nargs="?", default="-", metavar="FILE", help="input, `-` is stdin")
    made.add_argument("-o", dest="output", default="-", metavar="FILE", help="output file")
    made.add_argument(
        "-p",
        "--pass-pipeline",
        metavar="TEXT",
        help="passes as `builtin.module(a,b{c=1})` or `a,b`",
    )
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
        choices=("triton", "listing"),
        help="print the source of the kernels, or a line for each op, instead of the IR",
    )
    made.add_argument("--version", action="version", version=f"trivium-opt {version}")
    return made


def _names(text: str) -> list[str]:
    return text.split(",")


def double_dashes(arguments: Sequence[str]) -> list[str]:
    """Give long flags two dashes: like mlir-opt, `-split-input-file` works too."""
    return [f"-{a}" if re.match(r"-[a-z][\w-]+(=|$)", a) else a for a in arguments]


def printed_passes(flags: argparse.Namespace, when: str) -> Sequence[str]:
    """List the passes `before` or `after` which the IR is to be printed."""
    named: Sequence[str] = getattr(flags, f"mlir_print_ir_{when}")
    everything = getattr(flags, f"mlir_print_ir_{when}_all")
    changed = when == "after" and flags.mlir_print_ir_after_change
    return [EVERY] if everything or (changed and not named) else named


def pipeline(flags: argparse.Namespace, leftover: Sequence[str]) -> Pipeline:
    """Make the pipeline that the command line asks for; CompileError when it asks for none."""
    given = {
        "a pass flag": leftover,
        "--pass-pipeline": flags.pass_pipeline,
        "--target": flags.target,
    }
    used = [name for name, value in given.items() if value]
    if len(used) > 1:
        raise CompileError(f"{' and '.join(used)} exclude one another")
    if flags.target:
        made = _target_pipeline(flags.target)
    else:
        made = _parse(flags.pass_pipeline or ",".join(map(_pass_flag, leftover)))
    shown: list[str] = flags.mlir_print_ir_before + flags.mlir_print_ir_after + flags.debug
    for name in shown:
        made.need(name)
    return made.until(flags.stop_after) if flags.stop_after else made


def _pass_flag(argument: str) -> str:
    """Turn `--pass=a=1 b=2` into the text of a pipeline."""
    found = re.fullmatch(r"--([\w-]+)(?:=(.*))?", argument)
    if found is None:
        raise CompileError(f"'{argument}' is neither a flag nor a pass")
    name, options = found.groups()
    known = [
        *SWITCHES,
        *(f.partition("=")[0] for f in VALUE_FLAGS | LISTED),
        "--verify-each",
        "--emit",
    ]
    if name not in PASSES and (close := difflib.get_close_matches(argument, known, 1, 0.85)):
        raise CompileError(f"no flag or pass is called '{argument}', did you mean '{close[0]}'")
    return f"{name}{{{options}}}" if options else name


def _parse(text: str) -> Pipeline:
    """Parse a pipeline; targets, with their passes, are loaded for names not found without."""
    try:
        return Pipeline.parse(text)
    except CompileError:
        load_targets()
        return Pipeline.parse(text)


def load_targets() -> None:
    """Load all targets, with the passes that they register; raises as find_target."""
    import_all(targets)
    for name in target_names():
        find_target(name)


def _target_pipeline(name: str) -> Pipeline:
    from ..compiler.stages import pipeline_for  # the compiler is slow to import

    return pipeline_for(name, OPT_LEVEL)


def pass_table() -> str:
    """List our passes with their options and the first lines of their docstrings."""
    load_passes()
    load_targets()
    rows = {_usage(name): PASSES[name].summary() for name in sorted(PASSES)}
    width = max(map(len, rows), default=0)
    return "\n".join(f"  {usage:{width}}  {summary}" for usage, summary in rows.items())


def phase_table(target: str) -> str:
    """List the phases of a target with the names of their passes; CompileError without any."""
    phases = find_target(target).phases()
    if not phases:
        raise CompileError(f"target '{target}' has no phases, --list-passes lists all passes")
    width = max(len(name) for name, _ in phases)
    return "\n".join(f"  {name:{width}}  {', '.join(passes)}".rstrip() for name, passes in phases)


def _usage(name: str) -> str:
    options = [f.name.replace("_", "-") for f in dataclasses.fields(PASSES[name])]
    return f"--{name}" + (f"={' '.join(f'{o}=…' for o in options)}" if options else "")
