"""Cut an op into tiles that fit the memories, or find out beforehand that none do."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import Invalid, Unsupported
from ...dialects.core.location import describe
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import Array
from ...dialects.dla.buffers import BufferOp
from ...dialects.dla.dialect import TensorOp
from ...dialects.dla.types import Buffer
from . import tile_conv as tile_conv
from . import tile_vector as tile_vector
from .attempts import Retry
from .layout import Layout
from .limits import check_field
from .tiler import TILINGS, Images, Tiler, tiling_of

SHARES = ((2, 3), (1, 1))
"""Among how many tiles sram is shared, and among how many chunks their memory: best first."""


def cut(op: Op, tiler: Tiler, room: int, weights: int) -> None:
    """Write the tiles of an op so that two fit into so many bytes, or one where two cannot.

    Raises Retry when not even one does.
    """
    refused = ""
    for among, chunks in SHARES:
        tiler.room, tiler.budget = room, room // among
        tiler.weight_budget = weights // chunks
        try:
            tiling_of(op)(op, tiler)
            return
        except Unsupported as reason:
            refused = f"'{op.op_name}' op of {describe(op.location)} {reason}"
    raise Retry(refused)


def tiling_refusal(
    op: TensorOp, module: Module, layout: Layout, find_constant: Callable[[ir.Value], Array | None]
) -> str | None:
    """Say why no tiles of an op fit memories that it has for itself, or None where some do.

    `find_constant` returns the value of an operand that does not depend on inputs.
    """
    if type(op) not in TILINGS:
        return None
    block = op.operation.block
    trial = _Trial(module, block, layout, op.operation, find_constant=find_constant)
    trial.room = trial.budget = layout.capacity("sram")
    trial.weight_budget = layout.capacity("weights")
    for value in (*op.operation.operands, *op.results):
        trial.values[value] = Images(tensor_of(value.type).shape, dram=trial.stand_in)
    try:
        TILINGS[type(op)](op, trial)
    except Unsupported as reason:
        return f"{layout.description.name} {reason}"
    return None


@dataclass(kw_only=True)
class _Trial(Tiler):
    """Go through the tiles of an op without writing any."""

    find_constant: Callable[[ir.Value], Array | None]

    @property
    def stand_in(self) -> ir.Value:
        """Return what stands for each buffer."""
        return self.outside.results[0]

    def array(self, value: ir.Value) -> Array:
        array = self.find_constant(value)
        assert array is not None, "rules ask for the numbers of constants alone"
        return array

    def alloc(self, buffer: Buffer) -> ir.Value:
        return self.stand_in

    def put(self, cls: type[BufferOp], *buffers: ir.Value, **attributes: Any) -> None:
        try:
            for name, value in attributes.items():
                if isinstance(value, (int, str)):
                    check_field(self.description, cls.packet, name, value)
        except Invalid as fault:
            raise Unsupported(f"has no tile that its packets can say: {fault}") from None

    def constant(self, array: Array, hint: str) -> ir.Value:
        return self.stand_in
