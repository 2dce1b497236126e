"""Build dot products on weights packed as VNNI words in place of matrix products and convs."""

import math
from typing import Any

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import DTYPES, Array
from ....dialects.cpu.vnni import VNNI, Products, products_of
from ....passes.rewriting import NoMatch, Rewriter
from ..kernels.products.dot import multiplies_signed, multiplies_words
from ..schedule.tiles import choose_tile
from ..schedule.vector_axis import output_tile
from .packed_constants import constant_before

VNNI_BITS = DTYPES[VNNI].bits


def check_matrix(op: tri.MatMul) -> None:
    """Raise NoMatch unless a product is one with a matrix, and has elements."""
    a, b = tensor_of(op.a.type), tensor_of(op.b.type)
    if b.rank != 2 or a.rank < 2:
        raise NoMatch(f"multiplies {a} and {b}, the latter must be a matrix")
    check_size(op)


def check_size(op: tri.MatMul | tri.Gemm) -> None:
    """Raise NoMatch for products of nothing."""
    if not tensor_of(op.a.type).size or not tensor_of(op.b.type).size:
        raise NoMatch("is empty")


def check_kernels(op: tri.Conv, machine: Machine) -> None:
    """Raise NoMatch for convolutions of nothing, and depthwise ones without blocks of words."""
    w, y = tensor_of(op.w.type), tensor_of(op.y.type)
    if not w.size or not y.size:
        raise NoMatch("is empty")
    if not op.is_depthwise:
        return
    if tensor_of(op.x.type).dtype != VNNI or not multiplies_words(machine):
        raise NoMatch("is depthwise, and the machine has no dot products of bytes")
    if len(op.strides) > 2 or set(op.dilations) != {1} or w.shape[0] % machine.lanes(VNNI_BITS):
        raise NoMatch("is depthwise, and its windows have gaps, or channels are no whole blocks")
    if not tensor_of(op.y.type).is_static:
        raise NoMatch("is depthwise, of sizes that are only known at run time")


def products_for(x: ir.Value, machine: Machine) -> Products:
    """Return the dot products that a machine has for an input: of signed bytes, or unsigned."""
    return products_of(tensor_of(x.type), _is_signed(x, machine))


def _is_signed(x: ir.Value, machine: Machine) -> bool:
    return products_of(tensor_of(x.type)).factor == "i8" and multiplies_signed(machine)


def dot_product(
    op: tri.MatMul | tri.Gemm,
    a: ir.Value,
    w: Array,
    bias: ir.Value,
    machine: Machine,
    rewriter: Rewriter,
) -> cpu.DotMatMul:
    """Build, before an op, a product with a matrix of i8 or bf16, packed for a machine."""
    left, (depth, columns) = tensor_of(a.type), w.shape
    tile = choose_tile(machine, VNNI, left.size // depth, columns)
    packed = constant_before(op, cpu.pack_vnni_columns(w, tile.columns), "weight", rewriter)
    with rewriter.before(op):
        signed = _is_signed(a, machine)
        return cpu.DotMatMul.build(a, packed, bias, columns=columns, signed=signed)


def dot_convolution(
    op: tri.Conv,
    x: ir.Value,
    w: Array,
    bias: ir.Value,
    padding: int,
    machine: Machine,
    rewriter: Rewriter,
) -> cpu.DotConv | cpu.DotPanelConv:
    """Build, before an op, its like with kernels of i8 or bf16, packed for a machine.

    `padding` is around the input.
    """
    kernel = w.shape[2:]
    sizes: dict[str, Any] = {"outputs": w.shape[0], "kernel": kernel, "padding": padding}
    sizes["signed"] = _is_signed(x, machine)
    attributes = sizes | op.window(kernel).attributes
    columns = None if op.is_depthwise else _panel_columns(op, machine)
    if columns is not None:
        panels = constant_before(op, cpu.pack_vnni_kernel_columns(w, columns), "weight", rewriter)
        with rewriter.before(op):
            return cpu.DotPanelConv.build(x, panels, bias, **attributes)
    pixels = math.prod(tensor_of(op.y.type).shape[2:])
    block = choose_tile(machine, VNNI, w.shape[0] // op.group, pixels).rows
    packed = constant_before(op, cpu.pack_vnni_kernels(w, op.group, block), "weight", rewriter)
    with rewriter.before(op):
        return cpu.DotConv.build(x, packed, bias, block=block, **attributes)


def _panel_columns(op: tri.Conv, machine: Machine) -> int | None:
    """Return the number of outputs of a panel if vectors are across outputs, else None."""
    try:
        return output_tile(op, VNNI, machine).columns
    except NoMatch:
        return None
