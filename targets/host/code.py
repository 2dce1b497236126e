"""Calls of reference kernels: there is no code, only what they are to be called with."""

from collections.abc import Sequence
from typing import cast

from ...dialects import tri
from ...dialects.core.location import node_names
from ...dialects.core.mlir import ir
from ...dialects.core.module import ops
from ...dialects.core.sizes.binding import symbols_in
from ...runtime.contents import ABSENT
from ...runtime.host.step import ALONE, HostStep
from ..calls import Call, NumberedCall
from ..compiled import Buffers, CompiledPart
from ..written import written


class HostCode(CompiledPart):
    """Call the numpy reference of the one op in each group."""

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> list[HostStep]:
        return [_step(call, buffers) for _, call in calls]


def _step(call: Call, buffers: Buffers) -> HostStep:
    assert isinstance(call.op, tri.Group)
    block = call.op.block
    op = next(o for o in ops(block) if not isinstance(o, tri.Constant))
    outer: dict[ir.Value, ir.Value] = dict(zip(block.arguments, call.operands, strict=True))
    operands: list[int] = []
    groups: list[int] = []
    for group in op.operand_groups():
        many = isinstance(group, list)
        values = cast("list[ir.Value]", group) if many else [group]
        groups.append(len(values) if many else ALONE)
        operands += [ABSENT if v is None else buffers.number(outer[v]) for v in values]
    attributes = op.attributes
    sizes = {name: written(value) for name, value in attributes.items() if any(symbols_in(value))}
    return HostStep(
        op=op.op_name,
        attributes={name: value for name, value in attributes.items() if name not in sizes},
        operands=tuple(operands),
        groups=tuple(groups),
        results=tuple(buffers.number(v) for v in call.results),
        nodes=node_names(op.location),
        reason=buffers.refusal(op),
        sizes=sizes,
    )
