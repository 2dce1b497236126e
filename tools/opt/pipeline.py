"""The pipeline and the hooks that the command line of `trivium-opt` asks for."""

import argparse
import difflib
import re
from collections.abc import Callable, Sequence

from ...dialects.core.errors import CompileError
from ...dialects.core.mlir import ir
from ...passes.core import PASSES
from ...passes.instrumentation import EVERY, Explain, PrintIr, Timing
from ...passes.pipeline import Instrumentation, Pipeline
from ...targets.installed import foreign_targets
from ...targets.pass_index import pass_index
from ...targets.registry import find_target, load_passes
from .flags import known_flags

OPT_LEVEL = 2
"""The optimisation level of `--target`: the default of the compiler."""


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
    if name not in PASSES and name not in pass_index():
        close = difflib.get_close_matches(argument, known_flags(), 1, 0.85)
        if close:
            raise CompileError(f"no flag or pass is called '{argument}', did you mean '{close[0]}'")
    return f"{name}{{{options}}}" if options else name


def _parse(text: str) -> Pipeline:
    """Parse a pipeline; targets of other distributions are loaded for names not found without."""
    try:
        return Pipeline.parse(text, pass_index())
    except CompileError:
        if not foreign_targets():
            raise
        load_passes()
        return Pipeline.parse(text, pass_index())


def _target_pipeline(name: str) -> Pipeline:
    from ...compiler.stages import pipeline_for  # the compiler is slow to import

    return pipeline_for(name, OPT_LEVEL)


def phase_table(target: str) -> str:
    """List the phases of a target with the names of their passes; CompileError without any."""
    phases = find_target(target).phases()
    if not phases:
        raise CompileError(f"target '{target}' has no phases, --list-passes lists all passes")
    width = max(len(name) for name, _ in phases)
    return "\n".join(f"  {name:{width}}  {', '.join(passes)}".rstrip() for name, passes in phases)


def hooks(flags: argparse.Namespace, show: Callable[[ir.Operation], str]) -> list[Instrumentation]:
    """Make what watches the passes; the clock comes last, to be closest to them."""
    made: list[Instrumentation] = []
    printing = PrintIr(
        before_passes=_printed_passes(flags, "before"),
        after_passes=_printed_passes(flags, "after"),
        only_changed=flags.mlir_print_ir_after_change,
        on_failure=flags.mlir_print_ir_after_failure,
        module_scope=flags.mlir_print_ir_module_scope,
        show=show,
    )
    if printing.before_passes or printing.after_passes or printing.on_failure:
        made.append(printing)
    made += [Explain(name) for name in flags.debug]
    if flags.mlir_timing:
        made.append(Timing())
    return made


def _printed_passes(flags: argparse.Namespace, when: str) -> Sequence[str]:
    """List the passes `before` or `after` which the IR is to be printed."""
    named: Sequence[str] = getattr(flags, f"mlir_print_ir_{when}")
    everything = getattr(flags, f"mlir_print_ir_{when}_all")
    changed = when == "after" and flags.mlir_print_ir_after_change
    return [EVERY] if everything or (changed and not named) else named
