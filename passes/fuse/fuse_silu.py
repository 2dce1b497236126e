"""Recognise the activation function SiLU, also called Swish."""

from ...dialects import tri
from ...dialects.core.module import Module
from ..core import Pass
from ..matching import Found, FuseFragment, node, product, scalar, value
from ..rewriting import Rewriter, rewrite

X = value("x")


class FuseSilu(Pass):
    """Recognise x * sigmoid(x); with a number before the inner x it is Swish.

    %s = tri.sigmoid %x; %y = tri.mul %x, %s                       =>   %y = tri.silu %x
    %s = tri.sigmoid (tri.mul %x, 1.702); %y = tri.mul %x, %s      =>   %y = tri.swish %x {1.702}
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Silu(), _Swish())


class _Silu(FuseFragment):
    root = tri.Mul
    fragment = product(X, node(tri.Sigmoid, X))

    def build(self, found: Found, rewriter: Rewriter) -> tri.Silu:
        return tri.Silu.build(found.values["x"])


class _Swish(FuseFragment):
    root = tri.Mul
    fragment = product(X, node(tri.Sigmoid, product(X, scalar("alpha"))))

    def build(self, found: Found, rewriter: Rewriter) -> tri.Swish:
        return tri.Swish.build(found.values["x"], alpha=found.numbers["alpha"])
