"""Lower the groups on the CPU to kernel IR."""

from collections.abc import Hashable

from ....dialects import tri
from ....dialects.core.attributes import to_attribute
from ....dialects.core.machine import NATIVE, find_machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.sizes.atoms import Size
from ....passes.core import Pass
from ..kernels.kernel_module import FUNCTION, KERNEL, kernel_modules, record_of, set_record
from .group import lower_group, structure


class LowerToKernels(Pass):
    """Add a kernel module for the groups on the CPU, one for groups of equal structure.

    A kernel is IR of the func, scf, memref, vector, arith, math and llvm dialects. `machine` is the
    machine that it is for. With `strict`, numbers are computed without approximations. Groups name
    their kernels, and say what the words of their records are where kernels depend on symbols.

    tri.group %x { exp } {target = "cpu"}
        =>   tri.group %x { exp } {target = "cpu", cpu.kernel = "kernel_0"}
             module @kernel_0 { func.func @kernel_0(%phase, %begin, %end, %x, %y) { … } }
    """

    machine: str = NATIVE
    strict: bool = False

    def run(self, module: Module) -> None:
        machine = find_machine(self.machine)
        known: dict[Hashable, tuple[str, tuple[Size, ...]]] = {}
        count = len(list(kernel_modules(module)))
        with module.operation.context, ir.InsertionPoint(module.ir.body):
            for group in _groups(module):
                same = structure(group)
                if same not in known:
                    kernel = lower_group(group, machine, self.strict)
                    kernel.symbol = f"{FUNCTION}_{count + len(known)}"
                    known[same] = kernel.symbol, record_of(group.operation)
                symbol, record = known[same]
                group.operation.attributes[KERNEL] = to_attribute(symbol, str)
                set_record(group.operation, record)


def _groups(module: Module) -> list[tri.Group]:
    """List the groups on the CPU that have no kernel yet."""
    groups = [op for op in ops(module.main) if isinstance(op, tri.Group) and op.target == "cpu"]
    return [group for group in groups if KERNEL not in group.operation.attributes]
