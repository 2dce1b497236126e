"""From a `tri` module to a package: passes, placement, code."""

from collections.abc import Callable, Sequence

from ..dialects import tri
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, ops
from ..passes.pipeline import Pipeline
from ..runtime.package import Package
from ..targets.cpu.compile import CpuCode, compile_kernels
from ..targets.cpu.tune import Tuner
from ..targets.cpu.variants import merge_scratch
from ..targets.options import DEFAULT, Options
from ..targets.program import Call, lay_out
from .assemble import assemble

Progress = Callable[[str], None]
"""What hears of each stage of a compilation and of each kernel that is compiled."""


def build_module(
    module: Module,
    pipeline: Pipeline,
    target: str,
    progress: Progress,
    source: str,
    options: Options = DEFAULT,
    tuning: str = "",
) -> Package:
    """Run a pipeline that ends in placement and compile what was placed, in the current context.

    The code is for each of the machines of `options`. `tuning` is the tuning file that the package
    brings along when the pipeline comes upon none.
    """
    progress("optimise")
    tuner = Tuner(options, options.machines[0], progress)
    pipeline.run(module, *([tuner] if options.tuning_file else []))
    if options.tuning_file and not tuner.ran:
        progress(f"note: {options.tuning_file} is not used: nothing here has schedules")
    groups = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
    native = [group for group in groups if group.target == "cpu"]
    codes = [compile_kernels(native, machine, progress, options) for machine in options.machines]
    program = lay_out(module, [_call(group, codes) for group in groups])
    return assemble(
        module,
        program,
        codes,
        target=target,
        source=source,
        options=options,
        tuning=tuner.packaged() or tuning,
    )


def _call(group: tri.Group, codes: Sequence[CpuCode]) -> Call:
    needs = [code.kernels[group].scratch for code in codes if group in code.kernels]
    operands: list[ir.Value] = list(group.operation.operands)
    results: list[ir.Value] = list(group.results)
    return Call(group, tuple(operands), tuple(results), tuple(merge_scratch(needs).values()))
