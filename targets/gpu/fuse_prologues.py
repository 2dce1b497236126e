"""Compute elementwise ops where the kernel behind them reads."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.core.op import Op, view
from ...dialects.core.tensor import is_narrow
from ...passes.core import Pass
from ...passes.fuse.grouping import build_group, inline
from ...passes.rewriting import users
from .registry import TABLE

READ_ONCE = (
    *(tri.Softmax, tri.LogSoftmax, tri.Hardmax, tri.LayerNorm, tri.RmsNorm),
    *(tri.GroupNorm, tri.InstanceNorm, tri.LpNormalize),
    *(tri.ReduceSum, tri.ReduceMean, tri.ReduceMax, tri.ReduceMin, tri.ReduceProd),
    *(tri.ReduceL1, tri.ReduceL2, tri.ReduceSumSquare, tri.ReduceLogSum, tri.ReduceLogSumExp),
    *(tri.Transpose, tri.Slice, tri.Gather),
)
"""Anchors whose kernels read each element about once: any ops may be computed there."""

READ_OFTEN = (tri.MatMul, tri.Gemm, tri.Linear, tri.Conv, tri.ConvTranspose)
"""Anchors whose kernels read elements once for each block of results: only cheap ops may be."""

CHEAP = (tri.Cast, tri.Add, tri.Sub, tri.Mul, tri.Relu, tri.Clip, tri.Neg, tri.Abs, tri.Maximum)
"""Ops that cost less than a load."""

MOST = 4
"""The most cheap ops that may be computed more than once."""


class FusePrologues(Pass):
    """Move elementwise kernels into the one kernel that reads their result.

    The kernel must not read more than before: ops of two full tensors are not moved where the
    kernel reads an element more than once.

    %a = tri.group %x, %s { mul }; %y = tri.group %a { reduce_sum }
        =>   %y = tri.group %x, %s { mul; reduce_sum }
    """

    def run(self, module: Module) -> None:
        with module.operation.context:
            for op in ops(module.main):
                if isinstance(op, tri.Group) and op.target == "gpu":
                    _fuse_into(op)


def _fuse_into(group: tri.Group) -> None:
    """Move the kernels that make a group's operands into it, as long as there are any."""
    while (producer := _producer(group)) is not None:
        before, behind = inline(producer), inline(group)
        location = behind[-1].location
        with location:
            group = build_group([op for op in (*before, *behind) if not _is_constant(op)])
        group.set_attributes({"target": "gpu"})
        for op in filter(_is_constant, (*behind, *before)):
            if not users(op.results[0]):
                op.operation.erase()


def _producer(group: tri.Group) -> tri.Group | None:
    """Return an elementwise kernel that only the anchor of a group reads, if it may go there."""
    anchor = next((op for op in _work(group) if not TABLE.is_elementwise(op)), None)
    if anchor is None or len(group.results) != 1 or len(anchor.results) != 1:
        return None
    for argument, value in zip(group.block.arguments, group.operation.operands, strict=True):
        owner = view(value.owner) if isinstance(value, ir.OpResult) else None
        if not isinstance(owner, tri.Group) or owner.target != "gpu" or len(owner.results) != 1:
            continue
        read = [op for op in _work(group) if argument in list(op.operation.operands)]
        alone = len(users(value)) == 1 and read == [anchor]
        if alone and all(map(TABLE.is_elementwise, _work(owner))) and _may_move(owner, anchor):
            return owner
    return None


def _may_move(producer: tri.Group, anchor: Op) -> bool:
    if isinstance(anchor, READ_ONCE):
        return True
    work = _work(producer)
    if not isinstance(anchor, READ_OFTEN) or len(work) > MOST:
        return False
    made = tensor_of(producer.results[0].type).size_bytes
    large = [v for v in producer.operation.operands if 8 * tensor_of(v.type).size_bytes > made]
    return all(isinstance(op, CHEAP) and not _narrows(op) for op in work) and len(large) <= 1


def _narrows(op: Op) -> bool:
    """Return whether an op rounds to floats of 8 bits, which takes several steps."""
    return any(is_narrow(tensor_of(value.type).dtype) for value in op.results)


def _work(group: tri.Group) -> list[Op]:
    return [op for op in group.members if not _is_constant(op)]


def _is_constant(op: Op) -> bool:
    return isinstance(op, tri.Constant)
