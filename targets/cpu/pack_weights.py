"""Store constant weights in the order in which kernels read them."""

import math

import numpy as np

from ...dialects import cpu, tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.machine import NATIVE, Machine, find_machine
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.tensor import Array
from ...dialects.cpu.packing import pack_columns
from ...passes.constants import hint
from ...passes.core import Pass
from ...passes.rewriting import NoMatch, Pattern, Rewriter, rewrite
from .contraction import Tile, choose_tile
from .number import compute_dtype

GAIN = 1.05
"""How much fuller vectors across outputs have to be than those across pixels."""


class PackWeights(Pass):
    """Bring constant weights into the order in which kernels read them.

    The right-hand side of a matrix product is read by rows; the kernels of a convolution are read
    for several outputs at once, which then have to lie side by side. `machine` is what the kernels
    will run on: how many elements are read together depends on its registers.

        tri.mat_mul %x, %w                 =>   cpu.packed_mat_mul %x, %w_packed
        tri.gemm %x, %w, %b                =>   tri.add (cpu.packed_mat_mul %x, %w_packed), %b
        tri.gemm %x, %w {trans_b = true}   =>   tri.gemm %x, %w_turned, if it has scales
        tri.conv %x, %w                    =>   cpu.packed_conv %x, %w_packed
        tri.conv %x, %w                    =>   cpu.panel_conv %x, %w_packed, for small maps
    """

    machine: str = NATIVE

    def run(self, module: Module) -> None:
        machine = find_machine(self.machine)
        products = (_PackMatMul(machine), _PackGemm(machine), _TransposeGemm())
        rewrite(module, *products, _PanelConv(machine), _PackConv(machine))


class _ForMachine(Pattern):
    def __init__(self, machine: Machine) -> None:
        self.machine = machine


class _PackMatMul(_ForMachine):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        a, b = tensor_of(op.a.type), tensor_of(op.b.type)
        if b.rank != 2 or a.rank < 2:
            raise NoMatch(f"multiplies {a} and {b}, the latter must be a matrix")
        matrix = rewriter.constant(op.b)
        rewriter.replace(op, _packed_product(op, op.a, matrix, self.machine, rewriter))


class _PackGemm(_ForMachine):
    root = tri.Gemm

    def rewrite(self, op: tri.Gemm, rewriter: Rewriter) -> None:
        if op.trans_a or op.alpha != 1 or op.beta != 1:
            raise NoMatch("has scales, or a is transposed")
        b = rewriter.constant(op.b)
        matrix = b.T if op.trans_b else b
        product = _packed_product(op, op.a, matrix, self.machine, rewriter)
        if op.c is None:
            rewriter.replace(op, product)
            return
        with rewriter.before(op):
            rewriter.replace(op, tri.Add.build(product.y, op.c))


class _TransposeGemm(Pattern):
    root = tri.Gemm

    def rewrite(self, op: tri.Gemm, rewriter: Rewriter) -> None:
        if not op.trans_b:
            raise NoMatch("b is not transposed")
        array = np.ascontiguousarray(rewriter.constant(op.b).T)
        with rewriter.before(op):
            b = tri.build_constant(rewriter.module, array, f"{hint(op)}.weight").results[0]
            new = tri.Gemm.build(
                op.a, b, op.c, alpha=op.alpha, beta=op.beta, trans_a=op.trans_a, trans_b=False
            )
        rewriter.replace(op, new)


def _packed_product(
    op: tri.MatMul | tri.Gemm, a: ir.Value, b: Array, machine: Machine, rewriter: Rewriter
) -> cpu.PackedMatMul:
    """Build a product with a constant matrix before an op; NoMatch for types that are widened."""
    left = tensor_of(a.type)
    depth, columns = b.shape
    if not b.size or not left.size:
        raise NoMatch("is empty")
    if left.dtype != compute_dtype(left.dtype):
        raise NoMatch(f"{left.dtype} is widened, which is done once for a panel")
    tile = choose_tile(machine, left.dtype, left.size // depth, columns)
    packed = pack_columns(b, tile.columns)
    with rewriter.before(op):
        w = tri.build_constant(rewriter.module, packed, f"{hint(op)}.weight").results[0]
        return cpu.PackedMatMul.build(a, w, columns=columns)


class _PanelConv(_ForMachine):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        outputs, _, *kernel = tensor_of(op.w.type).shape
        tile = _output_tile(op, self.machine)
        packed = cpu.pack_kernel_columns(rewriter.constant(op.w), tile.columns)
        with rewriter.before(op):
            w = tri.build_constant(rewriter.module, packed, f"{hint(op)}.weight").results[0]
            new = cpu.PanelConv.build(
                op.x,
                w,
                op.b,
                outputs=outputs,
                kernel=tuple(kernel),
                strides=op.strides,
                pads=op.pads,
                dilations=op.dilations,
            )
        rewriter.replace(op, new)


def _output_tile(op: tri.Conv, machine: Machine) -> Tile:
    """Return the tile with vectors across outputs; NoMatch where those across pixels are fuller."""
    y, w = tensor_of(op.y.type), tensor_of(op.w.type)
    outputs, _, *kernel = w.shape
    pixels = math.prod(y.shape[2:])
    if op.group != 1 or len(kernel) > 2 or y.dtype != compute_dtype(y.dtype):
        raise NoMatch("has groups, a third dimension or a type that is widened")
    if not w.size or not y.size:
        raise NoMatch("is empty")
    tile = choose_tile(machine, y.dtype, pixels, outputs)
    if _is_windowed(op) and y.shape[-1] > tile.rows:
        raise NoMatch(f"rows of {y.shape[-1]} pixels do not fit in a tile of {tile.rows}")
    if _filled(outputs, tile.lanes) < GAIN * _filled(pixels, tile.lanes):
        raise NoMatch(f"vectors of {pixels} pixels are as full as those of {outputs} outputs")
    return tile


def _is_windowed(op: tri.Conv) -> bool:
    """Say whether windows are anything but the pixels of the input themselves."""
    sizes = tensor_of(op.x.type).shape[2:], tensor_of(op.y.type).shape[2:]
    return sizes[0] != sizes[1] or any(op.pads) or any(s != 1 for s in op.strides)


def _filled(count: int, lanes: int) -> float:
    return count / (-(-count // lanes) * lanes)


class _PackConv(_ForMachine):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        outputs, channels, *kernel = tensor_of(op.w.type).shape
        if channels == 1 and outputs == op.group:
            raise NoMatch("a depthwise convolution reads one kernel at a time")
        y = tensor_of(op.y.type)
        rows, columns = outputs // op.group, math.prod(y.shape[2:])
        block = choose_tile(self.machine, compute_dtype(y.dtype), rows, columns).rows
        packed = cpu.pack_kernels(rewriter.constant(op.w), op.group, block)
        with rewriter.before(op):
            w = tri.build_constant(rewriter.module, packed, f"{hint(op)}.weight").results[0]
            new = cpu.PackedConv.build(
                op.x,
                w,
                op.b,
                outputs=outputs,
                block=block,
                kernel=tuple(kernel),
                strides=op.strides,
                pads=op.pads,
                dilations=op.dilations,
            )
        rewriter.replace(op, new)
