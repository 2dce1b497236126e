"""Claims: whether a target runs an op, as it is or in the form that the target's passes give it."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.errors import CompileError
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, add_main
from ...dialects.core.op import Op, view
from ...dialects.core.verification import Verify
from ...passes.pipeline import Pipeline
from ..core import Target
from ..memory.values import code_ops
from ..options import CompileOptions
from .place import form_refusals

CONSTANTS = (tri.Constant, tri.Weight)


@dataclass(frozen=True)
class Claim:
    """Record whether a target runs an op, all of it or only some of the ops that it is made of.

    `reasons` are why it does not run all of it.
    """

    reasons: tuple[str, ...] = ()
    partial: bool = False

    @property
    def whole(self) -> bool:
        """Return whether the target runs all of the op."""
        return not self.reasons


def claim(op: Op, target: Target, module: Module, options: CompileOptions) -> Claim:
    """Return whether a target runs an op of a module.

    An op that the target refuses is taken apart by the target's passes in a module of its own. The
    sizes of symbols do not count yet: passes may still give an op another form.
    """
    reasons = tuple(form_refusals(op, target, module))
    if not reasons or isinstance(op, tri.Group) or not target.legalizes:
        return Claim(reasons)
    alone = _isolate(op, module)
    try:
        Pipeline(target.passes(0, options)).run(alone, verify=Verify.NONE)
    except CompileError:
        return Claim(reasons)
    made = code_ops(alone.main_block)
    refused = [form_refusals(each, target) for each in made]
    if any(why and type(each) is type(op) for each, why in zip(made, refused, strict=True)):
        return Claim(reasons)
    found = tuple(dict.fromkeys(reason for each in refused for reason in each))
    return Claim(found, partial=bool(found) and not all(refused))


def _isolate(op: Op, module: Module) -> Module:
    """Return a module whose function computes one op; constants that it reads are copied."""
    operands: Sequence[ir.Value] = list(dict.fromkeys(op.operation.operands))
    constants = {v: maker for v in operands if (maker := constant_maker(v)) is not None}
    inputs = [value for value in operands if value not in constants]
    with op.operation.context, ir.Location.unknown():
        alone = Module(ir.Module.create(), dict(module.weights))
        block = add_main(alone, inputs, [v.type for v in op.results])
        known: dict[ir.Value, ir.Value] = dict(zip(inputs, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            known |= {value: maker.clone().results[0] for value, maker in constants.items()}
            copy = op.operation.clone()
            for index, value in enumerate(op.operation.operands):
                copy.operands[index] = known[value]
            ir.Operation.create("func.return", [], list(copy.results))
    return alone


def constant_maker(value: ir.Value) -> ir.Operation | None:
    """Return the operation that makes a constant value, else None."""
    maker = view(value.owner) if isinstance(value, ir.OpResult) else None
    return maker.operation if isinstance(maker, CONSTANTS) else None
