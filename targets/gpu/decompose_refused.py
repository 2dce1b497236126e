"""Rewrite ops that the GPU has a kernel for, but not in their form, into simpler ones."""

from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...passes.core import Pass
from ...passes.decompose import Decomposition, decomposition_rules
from ...passes.rewriting import NoMatch, Rewriter, rewrite
from .registry import TABLE


class DecomposeRefused(Pass):
    """Replace ops beyond a limit of their kernel by simpler ones, which would run on the host else.

    %y = tri.attention %q, %k, %v  with heads of more than 256 elements
        =>   %s = tri.mat_mul %q, transpose %k; …; %y = tri.mat_mul (tri.softmax %s), %v
    """

    def run(self, module: Module) -> None:
        rules = decomposition_rules()
        limited = [cls for cls in TABLE.limits if cls in rules]
        rewrite(module, *(_Refused(cls, rules[cls]) for cls in limited))


class _Refused(Decomposition):
    def rewrite(self, op: Op, rewriter: Rewriter) -> None:
        if TABLE.broken_limit(op) is None:
            raise NoMatch("the GPU has a kernel for it")
        super().rewrite(op, rewriter)
