"""From a `tri` module to a package: passes, placement, code."""

from collections.abc import Callable, Sequence

from ..dialects import tri
from ..dialects.core.machine import NATIVE, find_machines
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, ops
from ..passes.pipeline import Pipeline
from ..runtime.package import Package
from ..targets.cpu.compile import CpuCode, compile_kernels
from ..targets.cpu.variants import merge_scratch
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
    machine: str | Sequence[str] = NATIVE,
) -> Package:
    """Run a pipeline that ends in placement and compile what was placed, in the current context.

    Raises CompileError for a machine that there is not.
    """
    machines = find_machines(machine)
    progress("optimise")
    pipeline.run(module)
    groups = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
    native = [group for group in groups if group.target == "cpu"]
    codes = [compile_kernels(native, one, progress) for one in machines]
    program = lay_out(module, [_call(group, codes) for group in groups])
    return assemble(module, program, codes, target=target, source=source)


def _call(group: tri.Group, codes: Sequence[CpuCode]) -> Call:
    needs = [code.kernels[group].scratch for code in codes if group in code.kernels]
    operands: list[ir.Value] = list(group.operation.operands)
    results: list[ir.Value] = list(group.results)
    return Call(group, tuple(operands), tuple(results), tuple(merge_scratch(needs).values()))
