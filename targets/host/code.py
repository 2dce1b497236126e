"""Calls of reference kernels: there is no code, only what they are to be called with."""

from collections.abc import Sequence
from typing import Any, cast

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.data_dependent import DataDependentOp
from ...dialects.core.location import node_names
from ...dialects.core.mlir import ir
from ...dialects.core.module import ops
from ...dialects.core.op import Op
from ...dialects.core.sizes.atoms import single_symbol
from ...dialects.core.sizes.binding import replaced, symbols_in
from ...runtime.contents import ABSENT
from ...runtime.find.step import FindStep
from ...runtime.host.step import ALONE, HostStep
from ...runtime.step import ELEMENTS, FoundSize, Step
from ..compiled import Buffers, CompiledPart
from ..program.calls import Call, NumberedCall
from ..written import written


class HostCode(CompiledPart):
    """Call the numpy reference of the one op in each group."""

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> list[Step]:
        return [_step(call, buffers) for _, call in calls]


def _step(call: Call, buffers: Buffers) -> Step:
    assert isinstance(call.op, tri.Group)
    block = call.op.block
    op = next(o for o in ops(block) if not isinstance(o, tri.Constant))
    if isinstance(op, tri.DefineSizes) and op.defined:
        return FindStep(
            operands=(buffers.number(call.operands[0]),),
            results=tuple(buffers.number(v) for v in call.results),
            nodes=node_names(op.location),
            finds=_finds(op),
            limits=written(op.limits),
        )
    outer: dict[ir.Value, ir.Value] = dict(zip(block.arguments, call.operands, strict=True))
    operands: list[int] = []
    groups: list[int] = []
    for group in op.operand_groups():
        many = isinstance(group, list)
        values = cast("list[ir.Value]", group) if many else [group]
        groups.append(len(values) if many else ALONE)
        operands += [ABSENT if v is None else buffers.number(outer[v]) for v in values]
    attributes = op.attributes | _unknown(op)
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
        finds=_finds(op),
    )


def _unknown(op: Op) -> dict[str, Any]:
    """Return the attributes that an op finds when it runs, with 0 for what is not known before."""
    if not isinstance(op, DataDependentOp):
        return {}
    values = {name: op.attributes[name] for name in op.found_sizes}
    names = [symbol.name for symbol in op.defined]
    return {name: replaced(value, dict.fromkeys(names, 0)) for name, value in values.items()}


def _finds(op: Op) -> tuple[FoundSize, ...]:
    """Return where the symbols that an op defines are found: in a shape, or as elements."""
    if isinstance(op, tri.DefineSizes):
        return tuple(
            FoundSize(symbol.name, 0, index, ELEMENTS)
            for index, size in enumerate(op.sizes)
            if (symbol := single_symbol(size)) is not None
        )
    defined = op.defined if isinstance(op, DataDependentOp) else ()
    axes = {
        str(size): (number, axis)
        for number, value in enumerate(op.results)
        for axis, size in enumerate(tensor_of(value.type).shape)
    }
    return tuple(FoundSize(symbol.name, *axes[symbol.name]) for symbol in defined)
