"""Find out, before an accelerator is given an op, that no tiles of it fit."""

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
from ..layout.memory_layout import Layout
from ..schedule.dry_run import Trial
from ..schedule.placement import Images, Window
from ..schedule.tilings import TILINGS
from .limits import check_field


def tiling_refusal(
    op: TensorOp, module: Module, layout: Layout, find_constant: Callable[[ir.Value], Array | None]
) -> str | None:
    """Say why no tiles of an op fit memories that it has for itself, or None where some do.

    `find_constant` returns the value of an operand that does not depend on inputs.
    """
    if type(op) not in TILINGS:
        return None
    block = op.operation.block
    trial = _Checked(module, block, layout, op.operation, find_constant=find_constant)
    trial.room = trial.budget = layout.capacity("sram")
    trial.weight_budget = layout.capacity("weights")
    for value in (*op.operation.operands, *op.results):
        trial.values[value] = Images(tensor_of(value.type).shape, dram=Window(trial.stand_in))
    try:
        TILINGS[type(op)](op, trial)
    except Unsupported as reason:
        return f"{layout.description.name} {reason}"
    return None


@dataclass(kw_only=True)
class _Checked(Trial):
    """Check that packets have room for what tiles are."""

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
            raise Unsupported(f"has no tile that its packets can say: {fault}") from None
