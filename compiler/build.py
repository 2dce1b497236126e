"""From a `tri` module to a package: passes, placement, code."""

from collections.abc import Callable

from ..dialects import tri
from ..dialects.core.machine import NATIVE, find_machine
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, ops
from ..passes.pipeline import Pipeline
from ..runtime.package import Package
from ..targets.cpu.compile import CpuCode, compile_kernels
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
    machine: str = NATIVE,
) -> Package:
    """Run a pipeline that ends in placement and compile what was placed, in the current context.

    Raises CompileError for a machine that there is not.
    """
    progress("optimise")
    pipeline.run(module)
    groups = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
    native = [group for group in groups if group.target == "cpu"]
    code = compile_kernels(native, find_machine(machine), progress)
    program = lay_out(module, [_call(group, code) for group in groups])
    return assemble(module, program, code, target=target, source=source)


def _call(group: tri.Group, code: CpuCode) -> Call:
    kernel = code.kernels.get(group)
    operands: list[ir.Value] = list(group.operation.operands)
    results: list[ir.Value] = list(group.results)
    return Call(group, tuple(operands), tuple(results), kernel.scratch if kernel else ())
