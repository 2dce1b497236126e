"""Variants of a module: with other inputs and results, compiled for the CPU to look at numbers."""

from collections.abc import Mapping, Sequence

from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, declared
from ...dialects.core.tensor import Tensor
from ...runtime.session import Session
from ...targets.core import Progress
from ...targets.options import CompileOptions
from ..build import build_module
from ..stages import pipeline_for


def copied(module: Module) -> Module:
    """Return a module with IR of its own, and the same weights."""
    text = module.operation.get_asm(enable_debug_info=True)
    return Module(ir.Module.parse(text), dict(module.weights))


def input_names(module: Module) -> list[str]:
    """Return the names of a model's inputs, in order."""
    return declared(module.main, "inputs", len(module.main_block.arguments))


def input_types(module: Module) -> dict[str, Tensor]:
    """Return the types of a model's inputs by their names, in order."""
    types = [tensor_of(value.type) for value in module.main_block.arguments]
    return dict(zip(input_names(module), types, strict=True))


def add_inputs(module: Module, kinds: Mapping[str, ir.Type]) -> dict[str, ir.Value]:
    """Give a model more inputs of some types; return them by their names."""
    known, block = input_names(module), module.main_block
    made = {name: block.add_argument(k, ir.Location.unknown()) for name, k in kinds.items()}
    _declare(module, "inputs", [*known, *made])
    _sign(module)
    return dict(made)


def set_results(module: Module, results: Mapping[str, ir.Value]) -> None:
    """Let a model return values by these names, and nothing else."""
    _last(module).erase()
    with ir.InsertionPoint(module.main_block), ir.Location.unknown():
        ir.Operation.create("func.return", [], list(results.values()))
    _declare(module, "outputs", list(results))
    _sign(module)


def compiled(module: Module, progress: Progress) -> Session:
    """Compile a module, which becomes what the CPU runs."""
    options = CompileOptions(progress=progress)
    return Session(build_module(module, pipeline_for("cpu", 2, options), options))


def _last(module: Module) -> ir.Operation:
    block = module.main_block
    return block.operations[len(block.operations) - 1].operation


def _declare(module: Module, which: str, names: Sequence[str]) -> None:
    array = ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])
    module.main.attributes[f"trivium.{which}"] = array


def _sign(module: Module) -> None:
    taken = [value.type for value in module.main_block.arguments]
    given = [value.type for value in _last(module).operands]
    module.main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(taken, given))
