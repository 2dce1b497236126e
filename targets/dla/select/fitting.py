"""Check during selection that tiles of an op fit the memories."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Invalid, Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.tensor import Array
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.dialect import TensorOp
from ..layout.memory_layout import MemoryLayout
from ..schedule.dry_run import DryRun
from ..schedule.placement import BufferWindow, ImagePlacement
from ..schedule.tilings import find_tiling
from .limits import check_field


def tiling_refusal(
    op: TensorOp,
    module: Module,
    layout: MemoryLayout,
    find_constant: Callable[[ir.Value], Array | None],
) -> str | None:
    """Return why no tile of an op fits into empty memories, or None if some do.

    `find_constant` returns the value of an operand that does not depend on inputs.
    """
    rule = find_tiling(op)
    if rule is None:
        return None
    block = op.operation.block
    dry_run = _FieldCheck(module, block, layout, op.operation, find_constant=find_constant)
    dry_run.sram_free = dry_run.tile_budget = layout.capacity("sram")
    dry_run.weight_budget = layout.capacity("weights")
    for value in (*op.operation.operands, *op.results):
        dry_run.values[value] = ImagePlacement(
            tensor_of(value.type).shape, dram=BufferWindow(dry_run.placeholder)
        )
    try:
        rule(op, dry_run)
    except Unsupported as reason:
        return f"{layout.description.name} {reason}"
    return None


@dataclass(kw_only=True)
class _FieldCheck(DryRun):
    """Check in a dry run that the fields of packets can encode each tile."""

    find_constant: Callable[[ir.Value], Array | None]

    def array(self, value: ir.Value) -> Array:
        array = self.find_constant(value)
        assert array is not None, "rules ask for the numbers of constants alone"
        return array

    def put(self, cls: type[BufferOp], *buffers: ir.Value, **attributes: Any) -> None:
        try:
            for name, value in attributes.items():
                if isinstance(value, (int, str)):
                    check_field(self.description, cls.packet, name, value)
        except Invalid as fault:
            raise Unsupported(f"has no tile that fits the fields of its packets: {fault}") from None
