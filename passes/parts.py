"""The parts of a model by target: their ops as modules of their own, for passes of one target."""

from collections.abc import Iterator

from ..dialects import tri
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, add_main, direct_ops

ANCHOR = "part."
"""Pipelines run passes on the parts of a target in `part.cpu(…)`."""

TARGET = "trivium.target"
"""The attribute of a function that is a single part: the name of its target."""


def part_modules(module: Module, target: str) -> Iterator[Module]:
    """Yield each part of a target as a module; changes of the module change the part.

    Weights that it adds are added to the whole module; those that it drops may be used by other
    parts, until `inline-parts` removes unused ones.
    """
    if _single_target(module.main) == target:
        yield module
        return
    for part in parts_of(module.main):
        if part.target == target:
            found = _open(part, module)
            yield found
            _close(part, found.main)
            module.weights.update(found.weights)


def _single_target(function: ir.Operation) -> str:
    """Return the target of a function that is a single part, else nothing."""
    return str(function.attributes[TARGET].value) if TARGET in function.attributes else ""


def parts_of(function: ir.Operation) -> list[tri.Part]:
    """List the parts of a function and of the bodies in it, in order."""
    found = (op for block in tri.run_blocks(function) for op in direct_ops(block))
    return [op for op in found if isinstance(op, tri.Part)]


def _open(part: tri.Part, whole: Module) -> Module:
    """Move the body of a part to the function of a new module."""
    with ir.Location.unknown(part.operation.context):
        shared = whole.refusals, whole.artifacts, whole.sizes, whole.refit
        module = Module(ir.Module.create(), dict(whole.weights), *shared)
        block = add_main(module, part.operation.operands, [v.type for v in part.results])
        module.main.attributes[TARGET] = ir.StringAttr.get(part.target)
        with ir.InsertionPoint(block):
            end = ir.Operation.create("func.return", [], [])
        _move_body(part.block, block, end)
    return module


def _close(part: tri.Part, function: ir.Operation) -> None:
    """Move the function's body back to the part."""
    block = function.regions[0].blocks[0]
    with ir.Location.unknown(part.operation.context), ir.InsertionPoint(part.block):
        end = tri.Yield.build([]).operation
    _move_body(block, part.block, end)


def _move_body(source: ir.Block, target: ir.Block, end: ir.Operation) -> None:
    """Move all ops of a block before the terminator of another, which takes on its operands."""
    for old, new in zip(source.arguments, target.arguments, strict=True):
        old.replace_all_uses_with(new)
    *body, last = [operation.operation for operation in source.operations]
    for operation in body:
        operation.move_before(end)
    with ir.InsertionPoint(end):
        ir.Operation.create(end.name, [], list(last.operands), loc=last.location)
    end.erase()
    last.erase()
