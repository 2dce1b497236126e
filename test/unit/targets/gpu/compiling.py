"""Compile the kernels of a case, without a GPU, and see that they fit an architecture."""

from collections.abc import Sequence

from groups import Case, release
from ordered import Order, build_ordered
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.emit.compile_sources import Failure, Job, compile_sources
from trivium.targets.gpu.emit.print_kernel import print_kernel
from trivium.targets.gpu.emit.resources import rejection
from trivium.targets.gpu.lower.group import lower_group
from trivium.targets.gpu.schedule.architecture import Architecture


def assemblies(
    case: Case,
    architecture: Architecture,
    orders: Sequence[Order] = (),
    result: Order = (),
    precision: str = "ieee",
) -> list[str]:
    """Return the assembly of each kernel of a case, with the blocks that it begins with."""
    with new_context(), ir.Location.unknown():
        group = build_ordered(case, orders, result)
        module = ir.Module.create()
        kernels = [kernel.op for kernel in lower_group(group, module, precision)]
        for each in kernel_passes(architecture):
            each.run(Module(module))
        jobs = [Job(print_kernel(op), op.warps, op.stages) for op in kernels]
        release()
    texts: list[str] = []
    for made in compile_sources(jobs, architecture):
        assert not isinstance(made, Failure), made
        assert rejection(made, architecture) is None, made.function
        texts.append(made.assembly)
    return texts
