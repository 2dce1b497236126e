"""Let attention share heads of keys and values instead of repeating them."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite


class FoldRepeatedHeads(Pass):
    """Take the keys and values of an attention from before they were repeated for each query head.

    Source: Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models", 2023.

        %e = tri.expand %k; %r = tri.reshape %e (heads repeated); tri.attention %q, %r, %v'
            =>   tri.attention %q, %k, %v
    """

    def run(self, module: Module) -> None:
        rewrite(module, _RepeatedHeads())


class _RepeatedHeads(Pattern):
    root = tri.Attention

    def rewrite(self, op: tri.Attention, rewriter: Rewriter) -> None:
        k_reshape, k_expand = _repetition(op.k, rewriter)
        v_reshape, v_expand = _repetition(op.v, rewriter)
        if k_expand.shape[:-1] != v_expand.shape[:-1]:
            raise NoMatch("keys and values are not repeated alike")
        with rewriter.before(op):
            k, v = _heads(k_expand), _heads(v_expand)
            new = tri.Attention.build(op.q, k, v, op.masks, **op.attributes)
        rewriter.replace(op, new, k_expand, k_reshape, v_expand, v_reshape)


def _repetition(value: ir.Value, rewriter: Rewriter) -> tuple[tri.Reshape, tri.Expand]:
    """Return the ops that repeat each head: [.., G, 1, S, D] to [.., G, n, S, D] to [.., H, S, D].

    Raises NoMatch when the value is not made so.
    """
    reshape = rewriter.producer(value, tri.Reshape)
    expand = rewriter.producer(reshape.x, tri.Expand)
    before, after = tensor_of(expand.x.type).shape, expand.shape
    if len(before) != len(after) or len(after) != len(reshape.shape) + 1:
        raise NoMatch("expansion does not add one axis to those of the heads")
    if before != (*after[:-3], 1, *after[-2:]):
        raise NoMatch(f"expands {before} to {after}, not only the third axis from the end")
    if reshape.shape != (*after[:-4], after[-4] * after[-3], *after[-2:]):
        raise NoMatch("reshape does not merge the heads with their repetitions")
    return reshape, expand


def _heads(expand: tri.Expand) -> ir.Value:
    shape = expand.shape
    return tri.Reshape.build(expand.x, shape=(*shape[:-3], *shape[-2:])).y
