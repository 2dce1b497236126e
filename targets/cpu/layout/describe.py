"""Describe the layouts of values, by their producers."""

from collections.abc import Mapping

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, direct_ops, functions
from ....dialects.core.op import Op

MAKERS = (
    *(cpu.Block, cpu.BlockedConv, cpu.BlockedConvTranspose),
    *(cpu.LaneConv, cpu.LaneDotConv, cpu.BlockedWinogradConv),
)
"""Ops with blocked results on any operands; results of others follow their operands."""


def describe_layouts(module: Module) -> Mapping[ir.Value, str]:
    """Return the layouts of the values that are not as the model has them."""
    found: dict[ir.Value, str] = {}
    for function in functions(module.operation):
        for block in tri.run_blocks(function):
            _follow_block(block, found)
    return found


def _follow_block(block: ir.Block, found: dict[ir.Value, str]) -> None:
    for op in direct_ops(block):
        if isinstance(op, tri.Group):
            _follow_group(op, found)
        elif not isinstance(op, tri.ControlOp):
            _follow(op, found)


def _follow_group(group: tri.Group, found: dict[ir.Value, str]) -> None:
    """Propagate layouts from the operands of a group to its results."""
    inputs = zip(group.block.arguments, group.operation.operands, strict=True)
    found.update([(inner, found[outer]) for inner, outer in inputs if outer in found])
    _follow_block(group.block, found)
    outputs = zip(group.results, group.end.operands, strict=True)
    found.update([(outer, found[inner]) for outer, inner in outputs if inner in found])


def _follow(op: Op, found: dict[ir.Value, str]) -> None:
    known = any(value in found for value in op.operation.operands)
    if isinstance(op, cpu.Unblock) or not (known or isinstance(op, MAKERS)):
        return
    for value in op.results:
        border = ", with a border" if isinstance(op, tri.Pad) else ""
        found[value] = f"in blocks of {tensor_of(value.type).shape[-1]} channels{border}"
