"""The passes that make code of groups on the CPU, in the order in which they run."""

from ....dialects import tri
from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
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
        types = [v.type for v in operation.operands]
        results = [v.type for v in operation.results]
        attributes: dict[str, ir.Attribute] = {
            "sym_name": ir.StringAttr.get("main"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, results)),
        }
        with ir.InsertionPoint(module.ir.body):
            function = ir.Operation.create("func.func", [], [], attributes, regions=1)
        block = ir.Block.create_at_start(function.regions[0], types)
        copy = operation.clone(ir.InsertionPoint(block))
        for number, argument in enumerate(block.arguments):
            copy.operands[number] = argument
        with ir.InsertionPoint(block):
            ir.Operation.create("func.return", [], list(copy.results))
    return module
