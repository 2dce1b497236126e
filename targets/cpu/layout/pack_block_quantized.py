"""Store constant matrices of few bits in the order in which kernels read them."""

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import NATIVE, find_machine
from ....dialects.core.module import Module
from ....dialects.cpu.block_quantized import BlockLayout
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Rewriter, rewrite
from ..schedule.machine_pattern import MachinePattern
from ..schedule.tiles import Tile, choose_tile
from .packed_constants import constant_before


class PackBlockQuantized(Pass):
    """Pack constant matrices of few bits, with their scales, in the order in which kernels read.

    `machine` is the machine of the kernels, whose registers determine the width of panels. What is
    not constant is left.

        tri.block_quantized_mat_mul %a, %w, %s   =>   cpu.packed_block_mat_mul %a, %packed
    """

    machine: str = NATIVE

    def run(self, module: Module) -> None:
        rewrite(module, _PackBlocks(find_machine(self.machine)))


class _PackBlocks(MachinePattern):
    root = tri.BlockQuantizedMatMul

    def rewrite(self, op: tri.BlockQuantizedMatMul, rewriter: Rewriter) -> None:
        stored = [op.w, op.scales, *([] if op.zero_points is None else [op.zero_points])]
        for value in stored:
            rewriter.need_constant(value)
        a, columns = tensor_of(op.a.type), tensor_of(op.w.type).shape[0]
        if not a.shape[-1] or not columns:
            raise NoMatch("is empty")
        width = _width(choose_tile(self.machine, "f32", a.size // a.shape[-1], columns), columns)
        w, scales, *zeros = map(rewriter.constant, stored)
        types = [tensor_of(value.type).dtype for value in stored[1:]]
        layout = BlockLayout(op.bits, op.block, *types)
        packed = layout.pack(w, scales, zeros[0] if zeros else None, width)
        weight = constant_before(op, packed, "weight", rewriter)
        with rewriter.before(op):
            new = cpu.PackedBlockMatMul.build(
                op.a,
                weight,
                bits=op.bits,
                block=op.block,
                columns=columns,
                scales=types[0],
                zero_points=types[1] if zeros else "",
            )
        rewriter.replace(op, new)


FILLING = 1 / 16
"""What part of the columns may be added to fill up the last panel."""


def _width(tile: Tile, columns: int) -> int:
    """Return the columns of panels: at most those of a tile, as many as leave little to fill up."""
    widths = range(tile.columns, 0, -tile.lanes)
    filling = {width: -columns % width for width in widths}
    small = (width for width in widths if filling[width] <= columns * FILLING)
    return next(small, min(widths, key=filling.__getitem__))
