"""Multiply floats of 8 bits as f16, for GPUs whose matrix units do not have them."""

from dataclasses import replace

from ....dialects import tile
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.op import Op
from ....dialects.tile.types import FLOAT8
from ....passes.core import Pass
from ...kernels.narrow import half_of_bits, widened_bits
from ..kernels.cleanup import clean_up
from ..kernels.value import Value

BITS = "ui8"
"""What memory holds floats of 8 bits as."""


class WidenFloat8(Pass):
    """Load and store floats of 8 bits as bits, widen them in registers, and multiply them as f16.

    Memory stays as it is. Results are the same: sums are of f32 either way.

    %a = tile.load %x of memref<16x32xf8E4M3FN>; tile.dot %a, …
        =>   %a = tile.load %x of memref<16x32xui8>; %h = tile.cast (…) to f16; tile.dot %h, …
    """

    def run(self, module: Module) -> None:
        with module.operation.context, ir.Location.unknown():
            for kernel in tile.kernels_of(module.operation):
                _widen(kernel)


def _widen(kernel: tile.Kernel) -> None:
    found = ops(kernel.block)
    readers = [(op, dtype) for op in found if (dtype := _read(op))]
    held = _held(kernel.block, found)
    if not held:
        return
    for value in held:
        bits = replace(tile.plain_type(value.type), dtype=BITS)
        value.set_type(tile.mlir_type(bits))
    for op in found:
        if isinstance(op, tile.BitCast) and op.to in FLOAT8:
            op.y.replace_all_uses_with(op.x)
            op.operation.erase()
    for op, dtype in readers:
        _widen_operands(op, dtype)
    clean_up(kernel.block)


def _read(op: Op) -> str:
    """Return the type of the floats of 8 bits that an op computes with, or ""."""
    if not isinstance(op, (tile.Cast, tile.Dot)):
        return ""
    dtype = Value(op.operation.operands[0]).dtype
    return dtype if dtype in FLOAT8 else ""


def _held(block: ir.Block, found: list[Op]) -> list[ir.Value]:
    """List the values of a kernel that are floats of 8 bits, in memory and in tiles."""
    inner = [region.blocks[0] for op in found for region in op.operation.regions]
    values: list[ir.Value] = [v for each in (block, *inner) for v in each.arguments]
    values += [v for op in found for v in op.results]
    return [value for value in values if tile.plain_type(value.type).dtype in FLOAT8]


def _widen_operands(op: Op, dtype: str) -> None:
    with ir.InsertionPoint(op.operation), op.location:
        if isinstance(op, tile.Cast):
            number, _ = widened_bits(Value(op.x), dtype)
            op.y.replace_all_uses_with(number.cast(op.to).value)
            op.operation.erase()
            return
        for index in (0, 1):
            bits = Value(op.operation.operands[index])
            op.operation.operands[index] = half_of_bits(bits, dtype).value
