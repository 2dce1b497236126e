"""Store constant weights in the order in which kernels read them."""

import numpy as np

from ...dialects import tri
from ...dialects.core.module import Module
from ...passes.constants import build_constant, hint
from ...passes.core import Pass
from ...passes.rewriting import NoMatch, Pattern, Rewriter, rewrite


class PackWeights(Pass):
    """Transpose the constant right-hand sides of matrix products once, at compile time.

    A kernel reads its right-hand side by rows; the weights of a linear layer come as columns.

        tri.gemm %x, %w {trans_b = true}   =>   tri.gemm %x, %w_transposed
    """

    def run(self, module: Module) -> None:
        rewrite(module, _TransposeGemm())


class _TransposeGemm(Pattern):
    root = tri.Gemm

    def rewrite(self, op: tri.Gemm, rewriter: Rewriter) -> None:
        if not op.trans_b:
            raise NoMatch("b is not transposed")
        array = np.ascontiguousarray(rewriter.constant(op.b).T)
        with rewriter.before(op):
            b = build_constant(rewriter.module, array, f"{hint(op)}.weight").results[0]
            new = tri.Gemm.build(
                op.a, b, op.c, alpha=op.alpha, beta=op.beta, trans_a=op.trans_a, trans_b=False
            )
        rewriter.replace(op, new)
