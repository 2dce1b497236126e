"""Variants of a module: with other inputs and results, compiled for the CPU to look at numbers."""

from collections.abc import Mapping, Sequence

from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, declared
from ...runtime.session import Session
from ..build import Progress, build_module
from ..stages import pipeline_for


def copied(module: Module) -> Module:
    """Return a module with IR of its own, and the same weights."""
    text = module.operation.get_asm(enable_debug_info=True)
    return Module(ir.Module.parse(text), dict(module.weights))


def input_names(module: Module) -> list[str]:
    """Return the names of a model's inputs, in order."""
    return declared(module.main, "inputs", len(_block(module).arguments))


def add_inputs(module: Module, names: Sequence[str], kind: ir.Type) -> dict[str, ir.Value]:
    """Give a model more inputs, all of one type; return them by their names."""
    known = input_names(module)
    arguments = [_block(module).add_argument(kind, ir.Location.unknown()) for _ in names]
    _declare(module, "inputs", [*known, *names])
    _sign(module)
    return dict(zip(names, arguments, strict=True))


def set_results(module: Module, results: Mapping[str, ir.Value]) -> None:
    """Let a model return values by these names, and nothing else."""
    _last(module).erase()
    with ir.InsertionPoint(_block(module)), ir.Location.unknown():
        ir.Operation.create("func.return", [], list(results.values()))
    _declare(module, "outputs", list(results))
    _sign(module)


def compiled(module: Module, progress: Progress) -> Session:
    """Compile a module, which becomes what the CPU runs."""
    return Session(build_module(module, pipeline_for("cpu", 2), "cpu", progress, ""))


def _block(module: Module) -> ir.Block:
    return module.main.regions[0].blocks[0]


def _last(module: Module) -> ir.Operation:
    block = _block(module)
    return block.operations[len(block.operations) - 1].operation


def _declare(module: Module, which: str, names: Sequence[str]) -> None:
    array = ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])
    module.main.attributes[f"trivium.{which}"] = array


def _sign(module: Module) -> None:
    taken = [value.type for value in _block(module).arguments]
    given = [value.type for value in _last(module).operands]
    module.main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(taken, given))
