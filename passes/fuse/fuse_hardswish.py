"""Recognise the activation functions hard sigmoid and hard swish."""

from ...dialects import tri
from ...dialects.core.module import Module
from ..core import Pass
from ..matching import Found, FuseFragment, either, node, product, total, value
from ..rewriting import Rewriter, rewrite

X = value("x")
SIXTH = 1 / 6

CLIPPED = either(
    node(tri.Clip, total(X, 3.0), min=0.0, max=6.0),
    node(tri.Minimum, node(tri.Maximum, total(X, 3.0), 0.0), 6.0),
    node(tri.Minimum, node(tri.Relu, total(X, 3.0)), 6.0),
)
"""min(max(x + 3, 0), 6)"""


class FuseHardswish(Pass):
    """Recognise clip(x + 3, 0, 6) / 6, and x times that.

    %c = tri.clip (tri.add %x, 3) {0, 6}; %y = tri.div %c, 6   =>   %y = tri.hard_sigmoid %x
    %s = tri.hard_sigmoid %x; %y = tri.mul %x, %s              =>   %y = tri.hardswish %x
    """

    def run(self, module: Module) -> None:
        rewrite(module, _HardSigmoid(), _OfHardSigmoid(), _OfClipped())


class _HardSigmoid(FuseFragment):
    root = (tri.Mul, tri.Div)
    fragment = product(SIXTH, CLIPPED)

    def build(self, found: Found, rewriter: Rewriter) -> tri.HardSigmoid:
        return tri.HardSigmoid.build(found.values["x"], alpha=SIXTH, beta=0.5)


class _OfHardSigmoid(FuseFragment):
    root = tri.Mul
    fragment = product(X, node(tri.HardSigmoid, X, alpha=SIXTH, beta=0.5))

    def build(self, found: Found, rewriter: Rewriter) -> tri.Hardswish:
        return tri.Hardswish.build(found.values["x"])


class _OfClipped(FuseFragment):
    root = (tri.Mul, tri.Div)
    fragment = product(SIXTH, X, CLIPPED)

    def build(self, found: Found, rewriter: Rewriter) -> tri.Hardswish:
        return tri.Hardswish.build(found.values["x"])
