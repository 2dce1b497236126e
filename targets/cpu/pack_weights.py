"""Store constant weights in the order in which kernels read them."""

import math

import numpy as np

from ...dialects import cpu, tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.machine import host_machine
from ...dialects.core.module import Module
from ...passes.constants import hint
from ...passes.core import Pass
from ...passes.rewriting import NoMatch, Pattern, Rewriter, rewrite
from .contraction import choose_tile
from .number import compute_dtype


class PackWeights(Pass):
    """Bring constant weights into the order in which kernels read them.

    The right-hand side of a matrix product is read by rows; the kernels of a convolution are read
    for several outputs at once, which then have to lie side by side.

        tri.gemm %x, %w {trans_b = true}   =>   tri.gemm %x, %w_transposed
        tri.conv %x, %w                    =>   cpu.packed_conv %x, %w_packed
    """

    def run(self, module: Module) -> None:
        rewrite(module, _TransposeGemm(), _PackConv())


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


class _PackConv(Pattern):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        outputs, channels, *kernel = tensor_of(op.w.type).shape
        if channels == 1 and outputs == op.group:
            raise NoMatch("a depthwise convolution reads one kernel at a time")
        y = tensor_of(op.y.type)
        rows, columns = outputs // op.group, math.prod(y.shape[2:])
        block = choose_tile(host_machine(), compute_dtype(y.dtype), rows, columns).rows
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
