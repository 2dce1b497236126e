"""The passes that make code of groups on the CPU, in the order in which they run."""

from ....dialects import tri
from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, add_main
from ....passes.pipeline import Pipeline
from ..lower.to_kernels import LowerToKernels
from .legalize import HideMasks, LegalizeKernels
from .name_kernels import NameKernels
from .split_phases import SplitPhases
from .to_llvm import ConvertKernelsToLlvm, SetTargetFeatures


def kernel_pipeline(machine: Machine, strict: bool) -> Pipeline:
    """Return the passes from groups to kernel IR, named and split into phases."""
    return Pipeline((LowerToKernels(machine.name, strict), SplitPhases(), NameKernels()))


def code_pipeline(machine: Machine, strict: bool) -> Pipeline:
    """Return the passes from kernel IR to the llvm dialect."""
    name = machine.name
    legalize = (LegalizeKernels(name), HideMasks(name))
    return Pipeline((*legalize, ConvertKernelsToLlvm(strict), SetTargetFeatures(name)))


def module_of(group: tri.Group) -> Module:
    """Return a module with a copy of a group: kernels are lowered and compiled one by one."""
    operation = group.operation
    with operation.context, ir.Location.unknown():
        module = Module(ir.Module.create())
        results = [v.type for v in operation.results]
        block = add_main(module, list(operation.operands), results)
        copy = operation.clone(ir.InsertionPoint(block))
        for number, argument in enumerate(block.arguments):
            copy.operands[number] = argument
        with ir.InsertionPoint(block):
            ir.Operation.create("func.return", [], list(copy.results))
    return module
