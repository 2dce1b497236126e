"""Hold the weights of a model back while it is compiled, so that only load steps read them."""

from collections.abc import Collection, Sequence

from ...dialects import tri
from ...dialects.core.attributes import order_of, tensor_of
from ...dialects.core.errors import CompileError
from ...dialects.core.location import node_names, value_names
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.core.op import Op
from ...dialects.core.tensor import DTYPES, dense, is_float
from ...runtime.contents import PROCESS
from ...runtime.refit.part import RefitPart, SourceWeight
from ...targets.core import Target
from ...targets.program.program import Program


def hold_weights(module: Module, only: Collection[str] | None = None) -> None:
    """Take the data of the weights of the source from an imported module; `refit` has it then.

    These are constants of floats that the source names, and that are not single numbers. Passes
    see that such a weight is no input, but cannot look at it, nor replace what is computed from it.
    With `only`, those of other names are left alone.
    """
    found = [op for op in ops(module.operation) if _is_source_weight(op)]
    if only is not None:
        found = [op for op in found if value_names(op.location)[0] in only]
    names = [value_names(op.location)[0] for op in found]
    for op, name in zip(found, names, strict=True):
        if names.count(name) > 1:
            continue  # two scopes of the source have a weight of this name
        weight = op if isinstance(op, tri.Weight) else _beside(op, name, module)
        module.refit[weight.name] = module.weights.pop(weight.name)


def _is_source_weight(op: Op) -> bool:
    if not isinstance(op, (tri.Constant, tri.Weight)):
        return False
    tensor = tensor_of(op.y.type)
    named = value_names(op.location)
    return (
        tensor.size > 1
        and is_float(tensor.dtype)
        and bool(named)
        and named == node_names(op.location)
    )


def _beside(op: Op, name: str, module: Module) -> tri.Weight:
    """Replace a constant in the IR by a weight beside it."""
    assert isinstance(op, tri.Constant)
    key = module.add_weight(name, dense(op.value))
    with ir.InsertionPoint(op.operation), op.location:
        weight = tri.Weight.build(name=key, type=tensor_of(op.y.type))
    op.y.replace_all_uses_with(weight.y)
    op.operation.erase()
    return weight


def check_targets(targets: Sequence[Target]) -> None:
    """Raise CompileError for targets that store weights in forms of their own."""
    for target in targets:
        if target.memory.name != PROCESS or not target.prepares:
            raise CompileError(
                f"refit is for weights that the CPU reads, target '{target.name}' has them in a "
                "form or a memory of its own: compile for the CPU, or without refit"
            )


def give_back(module: Module) -> None:
    """Put the data of held weights back, of those that are still used."""
    used = {op.name for op in ops(module.operation) if isinstance(op, tri.Weight)}
    module.weights.update({n: array for n, array in module.refit.items() if n in used})


def refit_part(module: Module, program: Program) -> RefitPart | None:
    """Describe where the weights of the source are, None where none may be updated."""
    found: dict[str, SourceWeight] = {}
    for op in ops(module.operation):
        if not isinstance(op, tri.Weight) or op.name not in module.refit:
            continue
        place = program.constants.get((op.y, PROCESS))
        if place is not None:
            name, tensor = value_names(op.location)[0], tensor_of(op.y.type)
            order, dtype = tuple(order_of(op.y.type)), DTYPES[tensor.dtype].numpy
            found[name] = SourceWeight(name, tensor.shape, dtype, place.offset, order)
    return RefitPart(weights=tuple(found.values())) if module.refit else None
