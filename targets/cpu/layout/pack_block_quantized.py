"""Store constant matrices of few bits in the order in which kernels read them."""

from typing import Any

import numpy as np

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import NATIVE, find_machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.tensor import Array, dtype_of
from ....dialects.cpu.block_quantized import BlockLayout
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Rewriter, rewrite
from ..schedule.machine_pattern import MachinePattern
from ..schedule.tiles import BLOCK_VECTORS, Tile, choose_tile
from .packed_constants import constant_before


class PackBlockQuantized(Pass):
    """Pack constant matrices of few bits, with their scales, in the order in which kernels read.

    `machine` is the machine of the kernels, whose registers determine the width of panels. What is
    not constant is left.

        tri.block_quantized_mat_mul %a, %w, %s   =>   cpu.packed_block_mat_mul %a, %packed
        tri.block_quantized_mat_mul %a, %w, %s {activations = "i8"}
            =>   cpu.dot_block_mat_mul (cpu.quantize_blocks %a), %packed
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
        w, scales, *zeros = map(rewriter.constant, stored)
        scales = scales if tensor_of(op.scales.type).dtype != "f32" else _shortest(scales)
        types = [dtype_of(array.dtype) for array in (scales, *zeros)]
        layout = BlockLayout(op.bits, op.block, *types)
        rows = a.size // a.shape[-1]
        width = _width(self._tile(op, rows, columns), columns)
        packed = layout.pack(w, scales, zeros[0] if zeros else None, width)
        weight = constant_before(op, packed, "weight", rewriter)
        given = {
            "bits": op.bits,
            "block": op.block,
            "columns": columns,
            "scales": types[0],
            "zero_points": types[1] if zeros else "",
        }
        with rewriter.before(op):
            rewriter.replace(op, _product(op, weight, given))

    def _tile(self, op: tri.BlockQuantizedMatMul, rows: Size, columns: int) -> Tile:
        if op.activations:
            lanes = self.machine.lanes(32)
            return Tile(1, min(BLOCK_VECTORS, -(-columns // lanes)), lanes)
        return choose_tile(self.machine, "f32", rows, columns)


def _shortest(scales: Array) -> Array:
    """Return scales in f16 if that loses nothing."""
    with np.errstate(over="ignore"):
        short = scales.astype(np.float16)
    return short if np.array_equal(short.astype(np.float32), scales) else scales


def _product(
    op: tri.BlockQuantizedMatMul, weight: ir.Value, given: dict[str, Any]
) -> cpu.PackedBlockMatMul | cpu.DotBlockMatMul:
    if not op.activations:
        return cpu.PackedBlockMatMul.build(op.a, weight, **given)
    rounded = cpu.QuantizeBlocks.build(op.a, block=op.block)
    to = tensor_of(op.a.type).dtype
    return cpu.DotBlockMatMul.build(
        rounded.numbers, rounded.scales, rounded.sums, weight, to=to, **given
    )


FILLING = 1 / 16
"""What part of the columns may be added to fill up the last panel."""


def _width(tile: Tile, columns: int) -> int:
    """Return the columns of panels: at most those of a tile, as many as leave little to fill up."""
    widths = range(tile.columns, 0, -tile.lanes)
    filling = {width: -columns % width for width in widths}
    small = (width for width in widths if filling[width] <= columns * FILLING)
    return next(small, min(widths, key=filling.__getitem__))
