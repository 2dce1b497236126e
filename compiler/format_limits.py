"""Decompose ops in forms that other formats cannot express."""

from ..dialects import tri
from ..dialects.core.module import Module
from ..dialects.core.op import Op
from ..passes.decompose import Decompose, Decomposition, decomposition_rules
from ..passes.rewriting import NoMatch, Rewriter, rewrite


def decompose_mask_chains(module: Module) -> None:
    """Replace each attention with several masks, or to a cache, by ops that formats have."""
    Decompose(ops=("cached_attention",)).run(module)
    rewrite(module, _MaskChain(tri.Attention, decomposition_rules()[tri.Attention]))


def decompose_counted_scatters(module: Module) -> None:
    """Replace each scatter of rows that are counted by ops that formats have."""
    rewrite(module, _CountedScatter(tri.TensorScatter, decomposition_rules()[tri.TensorScatter]))


class _MaskChain(Decomposition):
    """Decompose attention that has more masks than one."""

    def rewrite(self, op: Op, rewriter: Rewriter) -> None:
        if not (isinstance(op, tri.Attention) and op.is_chain):
            raise NoMatch("formats have such a mask")
        super().rewrite(op, rewriter)


class _CountedScatter(Decomposition):
    """Decompose scatters of rows that have counts."""

    def rewrite(self, op: Op, rewriter: Rewriter) -> None:
        if not (isinstance(op, tri.TensorScatter) and op.counts is not None):
            raise NoMatch("ONNX has scatters of all rows")
        super().rewrite(op, rewriter)
