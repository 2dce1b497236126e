"""Recognise the activation function Mish."""

from ...dialects import tri
from ...dialects.core.module import Module
from ..core import Pass
from ..matching import Found, FuseFragment, either, node, product, total, value
from ..rewriting import Rewriter, rewrite

X = value("x")

SOFTPLUS = either(node(tri.Softplus, X), node(tri.Log, total(1.0, node(tri.Exp, X))))


class FuseMish(Pass):
    """Recognise x * tanh(softplus(x)).

    %p = tri.softplus %x; %t = tri.tanh %p; %y = tri.mul %x, %t   =>   %y = tri.mish %x
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Mish())


class _Mish(FuseFragment):
    root = tri.Mul
    fragment = product(X, node(tri.Tanh, SOFTPLUS))

    def build(self, found: Found, rewriter: Rewriter) -> tri.Mish:
        return tri.Mish.build(found.values["x"])
