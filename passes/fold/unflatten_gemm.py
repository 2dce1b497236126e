"""Undo the flattening that exporters put around matrix products."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.module import Module
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite


class UnflattenGemm(Pass):
    """Turn a Gemm whose rows are unflattened afterwards into a MatMul and an Add.

    Then the reshape of the operand meets the one before it, and ops after the product see its
    bias and the model's own shapes. Constant weights only, since they may have to be transposed.

        %g = tri.gemm %x, %w, %b; %y = tri.reshape %g to 1x64x768
            =>   %r = tri.reshape %x to 1x64x256; %m = tri.mat_mul %r, %w; %y = tri.add %m, %b
    """

    def run(self, module: Module) -> None:
        rewrite(module, _ReshapeOfGemm())


class _ReshapeOfGemm(Pattern):
    root = tri.Reshape

    def rewrite(self, op: tri.Reshape, rewriter: Rewriter) -> None:
        gemm = rewriter.sole_producer(op.x, tri.Gemm)
        shape, bias = op.shape, gemm.c
        if len(shape) < 3 or shape[-1] != tensor_of(gemm.y.type).shape[-1]:
            raise NoMatch(f"reshape to {shape} does not unflatten the rows")
        if gemm.alpha != 1 or gemm.trans_a or (bias is not None and gemm.beta != 1):
            raise NoMatch("gemm does more than multiply and add")
        if bias is not None and len(set(tensor_of(bias.type).shape[:-1]) - {1}):
            raise NoMatch("bias differs from row to row")
        if not isinstance(rewriter.find_producer(gemm.b), (tri.Constant, tri.Weight)):
            raise NoMatch("weights are not constant")
        with rewriter.before(op):
            rows = tri.Reshape.build(gemm.a, shape=(*shape[:-1], tensor_of(gemm.a.type).shape[-1]))
            w = tri.Transpose.build(gemm.b, permutation=(1, 0)).y if gemm.trans_b else gemm.b
            new: tri.MatMul | tri.Add = tri.MatMul.build(rows.y, w)
            if bias is not None:
                new = tri.Add.build(new.y, bias)
        rewriter.replace(op, new, gemm)
