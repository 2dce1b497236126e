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
        tri.indexed_block_mat_mul %a, %w, %s, %i {activations = "i8"}
            =>   cpu.dot_indexed_block_mat_mul (cpu.quantize_blocks %a), %packed, %i
    """

    machine: str = NATIVE

    def run(self, module: Module) -> None:
        machine = find_machine(self.machine)
        rewrite(module, _PackBlocks(machine), _PackIndexed(machine))


Product = tri.BlockQuantizedMatMul | tri.IndexedBlockMatMul


class _Packing(MachinePattern):
    def packed(
        self, op: Product, width: int, rewriter: Rewriter
    ) -> tuple[ir.Value, dict[str, Any]]:
        """Return the packed matrices, and the attributes that say how; none are empty."""
        w, scales, *zeros = map(rewriter.constant, _stored(op))
        scales = scales if tensor_of(op.scales.type).dtype != "f32" else _shortest(scales)
        types = [dtype_of(array.dtype) for array in (scales, *zeros)]
        layout = BlockLayout(op.bits, op.block, *types)
        packed = layout.pack(w, scales, zeros[0] if zeros else None, width)
        given = {
            "bits": op.bits,
            "block": op.block,
            "columns": w.shape[-3],
            "scales": types[0],
            "zero_points": types[1] if zeros else "",
        }
        return constant_before(op, packed, "weight", rewriter), given

    def check(self, op: Product, rewriter: Rewriter) -> None:
        """Raise NoMatch unless the matrices are constant, and there is something to multiply."""
        for value in _stored(op):
            rewriter.need_constant(value)
        if not tensor_of(op.a.type).shape[-1] or not tensor_of(op.w.type).size:
            raise NoMatch("is empty")

    def width(self, op: Product, rows: Size) -> int:
        """Return the columns of a panel."""
        columns = tensor_of(op.w.type).shape[-3]
        if not op.activations:
            return _width(choose_tile(self.machine, "f32", rows, columns), columns)
        lanes = self.machine.lanes(32)
        return _width(Tile(1, min(BLOCK_VECTORS, -(-columns // lanes)), lanes), columns)


class _PackBlocks(_Packing):
    root = tri.BlockQuantizedMatMul

    def rewrite(self, op: tri.BlockQuantizedMatMul, rewriter: Rewriter) -> None:
        self.check(op, rewriter)
        a = tensor_of(op.a.type)
        weight, given = self.packed(op, self.width(op, a.size // a.shape[-1]), rewriter)
        with rewriter.before(op):
            if not op.activations:
                made = cpu.PackedBlockMatMul.build(op.a, weight, **given)
            else:
                made = cpu.DotBlockMatMul.build(*_rounded(op), weight, to=a.dtype, **given)
            rewriter.replace(op, made)


class _PackIndexed(_Packing):
    root = tri.IndexedBlockMatMul

    def rewrite(self, op: tri.IndexedBlockMatMul, rewriter: Rewriter) -> None:
        if not op.activations:
            raise NoMatch("does not round activations")
        self.check(op, rewriter)
        a = tensor_of(op.a.type)
        weight, given = self.packed(op, self.width(op, a.shape[0]), rewriter)
        with rewriter.before(op):
            made = cpu.DotIndexedBlockMatMul.build(
                *_rounded(op), weight, op.index, to=a.dtype, **given
            )
            rewriter.replace(op, made)


def _stored(op: Product) -> list[ir.Value]:
    """Return the bytes of matrices, their scales and, if there are any, zero points."""
    return [op.w, op.scales, *([] if op.zero_points is None else [op.zero_points])]


def _rounded(op: Product) -> tuple[ir.Value, ir.Value, ir.Value]:
    made = cpu.QuantizeBlocks.build(op.a, block=op.block)
    return made.numbers, made.scales, made.sums


def _shortest(scales: Array) -> Array:
    """Return scales in f16 if that loses nothing."""
    with np.errstate(over="ignore"):
        short = scales.astype(np.float16)
    return short if np.array_equal(short.astype(np.float32), scales) else scales


FILLING = 1 / 16
"""What part of the columns may be added to fill up the last panel."""


def _width(tile: Tile, columns: int) -> int:
    """Return the columns of panels: at most those of a tile, as many as leave little to fill up."""
    widths = range(tile.columns, 0, -tile.lanes)
    filling = {width: -columns % width for width in widths}
    small = (width for width in widths if filling[width] <= columns * FILLING)
    return next(small, min(widths, key=filling.__getitem__))
