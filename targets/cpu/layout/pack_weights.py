"""Store constant weights in the order in which kernels read them."""

import math
from typing import Any

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import NATIVE, Machine, find_machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import Op
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.tensor import DTYPES, Array
from ....dialects.cpu.packing import pack_columns
from ....passes.building import cast
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Pattern, Rewriter, rewrite
from ...kernels.arithmetic import compute_dtype
from ..schedule.choice import choose
from ..schedule.machine_pattern import MachinePattern
from ..schedule.schedule import PANEL, SCHEDULE, Schedule
from .narrow_matrix import NarrowMatrix, find_narrow
from .packed_constants import constant_before, joined_constant, packed_constant


class PackWeights(Pass):
    """Pack constant weights in the order in which kernels read them.

    Kernels read the right-hand side of a matrix product by rows, and the kernels of a convolution
    for several outputs at once. The attribute of an op may fix its schedule. `machine` is the
    machine of the kernels, whose registers determine the block sizes. Without `sink_dequantize`,
    weights are scaled before they are multiplied, as in the model.

        tri.mat_mul %x, %w                 =>   cpu.packed_mat_mul %x, %w_packed
        tri.mat_mul %x, (tri.mul (tri.cast %q), %s)   (for few rows)
            =>   tri.mul (cpu.packed_mat_mul %x, %q_packed), %s
        tri.gemm %x, %w, %b                =>   tri.add (cpu.packed_mat_mul %x, %w_packed), %b
        tri.gemm %x, %w, %b                (of halves, which are rounded once)
            =>   tri.cast (tri.add (cpu.packed_mat_mul (tri.cast %x), %w_packed), (tri.cast %b))
        tri.gemm %x, %w {trans_b = true}   =>   tri.gemm %x, %w_turned, if it has scales
        tri.conv %x, %w                    =>   cpu.packed_conv %x, %w_packed
        tri.conv %x, %w                    =>   cpu.panel_conv %x, %w_packed, for fuller vectors

        tri.conv %x, %w {trivium.schedule = "panel 7x4"}   =>   cpu.panel_conv … {rows = 7}
        cpu.blocked_conv %x, %w {trivium.schedule = "panel 7x4"}
            =>   cpu.blocked_conv %x, %w_packed_again {rows = 7}
    """

    machine: str = NATIVE
    sink_dequantize: bool = True

    def run(self, module: Module) -> None:
        machine = find_machine(self.machine)
        products = (
            _PackMatMul(machine, self.sink_dequantize),
            _PackGemm(machine, self.sink_dequantize),
        )
        rewrite(module, *products, _TransposeGemm(), _PackConv(machine), _Repack(machine))


class _PackProduct(MachinePattern):
    """Base of patterns that multiply by packed columns."""

    def __init__(self, machine: Machine, sink_dequantize: bool) -> None:
        super().__init__(machine)
        self.sink_dequantize = sink_dequantize

    def build(
        self, op: tri.MatMul | tri.Gemm, transposed: bool, rewriter: Rewriter
    ) -> cpu.PackedMatMul | tri.Mul:
        """Build a product with a constant matrix before an op; NoMatch where it has none."""
        rewriter.need_weight(op.b)
        schedule = choose(op, self.machine)
        width = schedule.vectors * _lanes(self.machine, op.a)

        def pack(b: Array) -> Array:
            return pack_columns(b.T if transposed else b, width)

        columns = tensor_of(op.b.type).shape[0 if transposed else 1]
        narrow = self._narrow(op, transposed, schedule.rows, rewriter)
        w = packed_constant(op, op.b if narrow is None else narrow.stored, pack, rewriter)
        with rewriter.before(op):
            a = op.a if isinstance(op, tri.MatMul) or op.c is None else _wide(op.a)
            product = cpu.PackedMatMul.build(a, w, columns=columns, rows=schedule.rows)
        if narrow is None or narrow.scale is None:
            return product
        scale = constant_before(op, narrow.scale, "scale", rewriter)
        with rewriter.before(op):
            return tri.Mul.build(product.y, scale)

    def _narrow(
        self, op: tri.MatMul | tri.Gemm, transposed: bool, rows: int, rewriter: Rewriter
    ) -> NarrowMatrix | None:
        """Return the narrow matrix, if one tile has all rows, or may have them.

        Each weight is then read once, so that widening it beforehand does not pay.
        """
        if at_least(rows, math.prod(tensor_of(op.a.type).shape[:-1])) is False:
            return None
        narrow = find_narrow(op.b, 0 if transposed else 1, rewriter)
        if narrow is None or narrow.scale is None or self.sink_dequantize:
            return narrow
        return None


class _PackMatMul(_PackProduct):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        b = op.b
        rewriter.replace(op, self.build(op, False, rewriter))
        rewriter.release(b)


class _PackGemm(_PackProduct):
    root = tri.Gemm

    def rewrite(self, op: tri.Gemm, rewriter: Rewriter) -> None:
        b = op.b
        new = self.build(op, op.trans_b, rewriter)
        if op.c is not None:
            with rewriter.before(op):
                new, dtype = tri.Add.build(new.y, _wide(op.c)), tensor_of(op.y.type).dtype
                if tensor_of(new.y.type).dtype != dtype:
                    new = tri.Cast.build(new.y, to=dtype)
        rewriter.replace(op, new)
        rewriter.release(b)


class _TransposeGemm(Pattern):
    root = tri.Gemm

    def rewrite(self, op: tri.Gemm, rewriter: Rewriter) -> None:
        if not op.trans_b:
            raise NoMatch("b is not transposed")
        b = packed_constant(op, op.b, lambda b: b.T, rewriter)
        with rewriter.before(op):
            new = tri.Gemm.build(
                op.a, b, op.c, alpha=op.alpha, beta=op.beta, trans_a=op.trans_a, trans_b=False
            )
        rewriter.replace(op, new)


class _PackConv(MachinePattern):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        rewriter.need_weight(op.w)
        schedule = choose(op, self.machine)
        outputs, _, *kernel = tensor_of(op.w.type).shape
        window = op.window(tuple(kernel))
        w, cls, tile = _packed(op, schedule, self.machine, rewriter)
        with rewriter.before(op):
            new = cls.build(
                op.x, w, op.b, **tile, outputs=outputs, kernel=window.kernel, **window.attributes
            )
        rewriter.replace(op, new)


class _Repack(MachinePattern):
    root = cpu.BlockedConv

    def rewrite(self, op: cpu.BlockedConv, rewriter: Rewriter) -> None:
        if SCHEDULE not in op.operation.attributes:
            raise NoMatch("is packed for the schedule that costs least")
        schedule = choose(op, self.machine)

        def pack(packed: Array) -> Array:
            kernels = cpu.unpack_group_columns(packed, op.outputs, op.group, op.kernel)
            return cpu.pack_group_columns(kernels, op.group, schedule.vectors * op.lanes)

        w = packed_constant(op, op.w, pack, rewriter)
        with rewriter.before(op):
            more: dict[str, Any] = op.attributes | {"rows": schedule.rows}
            rewriter.replace(op, cpu.BlockedConv.build(op.x, w, op.b, **more))


Packed = tuple[ir.Value, type[Op], dict[str, Any]]
"""Kernels, the op that reads them, and the sizes of its tile."""


def _packed(op: tri.Conv, schedule: Schedule, machine: Machine, rewriter: Rewriter) -> Packed:
    if schedule.method == PANEL:
        width = schedule.vectors * _lanes(machine, op.y)
        w = packed_constant(op, op.w, lambda w: cpu.pack_kernel_columns(w, width), rewriter)
        return w, cpu.PanelConv, {"rows": schedule.rows}

    def split(kernels: Array) -> list[Array]:
        return cpu.split_kernels(kernels, op.group, schedule.rows)

    w = joined_constant(op, op.w, split, rewriter)
    return w, cpu.PackedConv, {"block": schedule.rows, "vectors": schedule.vectors}


def _wide(value: ir.Value) -> ir.Value:
    """Build a cast to the type in which a tensor is multiplied, unless it has that."""
    return cast(value, compute_dtype(tensor_of(value.type).dtype))


def _lanes(machine: Machine, value: ir.Value) -> int:
    """Return how many numbers of a tensor a register has where they are multiplied."""
    return machine.lanes(DTYPES[compute_dtype(tensor_of(value.type).dtype)].bits)
