"""Choose what activations are rounded to before they are multiplied by matrices of few bits."""

from typing import Any

from ...dialects import tri
from ...dialects.core.module import Module
from ...dialects.tri.linear_algebra.block_quantized import MOST_ROUNDED
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite


class RoundActivations(Pass):
    """Round blocks of activations to i8, or keep them exact, in place of what the model says.

    `to` is the element type, empty for exact ones. Products whose blocks are too long for it stay.

        tri.block_quantized_mat_mul %a, %w, %s
            =>   tri.block_quantized_mat_mul %a, %w, %s {activations = "i8"}
    """

    to: str = ""

    def run(self, module: Module) -> None:
        rewrite(module, _Product(self.to))


class _Product(Pattern):
    root = (tri.BlockQuantizedMatMul, tri.IndexedBlockMatMul)

    def __init__(self, to: str) -> None:
        self.to = to

    def rewrite(
        self, op: tri.BlockQuantizedMatMul | tri.IndexedBlockMatMul, rewriter: Rewriter
    ) -> None:
        if op.activations == self.to:
            raise NoMatch(f"rounds to '{self.to}'")
        if self.to and op.block > MOST_ROUNDED:
            raise NoMatch(f"has blocks of {op.block}, sums of which may be too large")
        attributes: dict[str, Any] = {**op.attributes, "activations": self.to}
        with rewriter.before(op):
            new = type(op).build(*op.operand_groups(), **attributes)
        rewriter.replace(op, new)
