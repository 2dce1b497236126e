"""Common subexpression and dead code elimination in the body of a kernel."""

from collections.abc import Hashable

from ....dialects.core.mlir import ir
from ....dialects.core.module import ops
from ....dialects.core.op import Op
from ....dialects.tile import For, Load, LoadBlock, body_ops
from ....passes.rewriting import users

READS = (Load, LoadBlock)
"""Ops whose results depend on when they run."""


def clean_up(block: ir.Block) -> None:
    """Merge equal ops of a block and of those in it, then drop the unused ones."""
    _merge(block, {})
    _sweep(block)


def _merge(block: ir.Block, outer: dict[Hashable, Op]) -> None:
    """Merge each op with an equal one before it, in the block or around it."""
    known = dict(outer)
    for op in body_ops(block):
        for region in op.operation.regions:
            _merge(region.blocks[0], known)
        if not op.pure or op.terminator or isinstance(op, (For, *READS)):
            continue
        given = op.operation.attributes
        attributes = tuple((name, given[name]) for name in given)
        types = tuple(value.type for value in op.results)
        key = (op.op_name, tuple(op.operation.operands), attributes, types)
        same = known.setdefault(key, op)
        if same is not op:
            op.results[0].replace_all_uses_with(same.results[0])
            op.operation.erase()


def _sweep(block: ir.Block) -> None:
    for op in reversed(body_ops(block)):
        for region in op.operation.regions:
            _sweep(region.blocks[0])
        if _only_computes(op) and not any(map(users, op.results)):
            op.operation.erase()


def _only_computes(op: Op) -> bool:
    """Return whether an op, with all in its regions, does nothing but return results."""
    if not op.pure or op.terminator:
        return False
    inner = [i for region in op.operation.regions for i in ops(region.blocks[0])]
    return all(i.pure for i in inner)
