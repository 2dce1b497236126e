"""Recognise the activation function GELU."""

import math

from ...dialects import tri
from ...dialects.core.module import Module
from ..core import Pass
from ..matching import Found, FuseFragment, either, node, power, product, total, value
from ..rewriting import Rewriter, rewrite

X = value("x")

ROOT_HALF = math.sqrt(0.5)
ROOT_2_PI = math.sqrt(2 / math.pi)
CUBIC = 0.044715

EXACT = product(0.5, X, total(1.0, node(tri.Erf, product(ROOT_HALF, X))))
"""x/2 * (1 + erf(x / sqrt 2))"""

INNER = either(
    product(ROOT_2_PI, total(X, product(CUBIC, power(X, 3)))),
    product(ROOT_2_PI, X, total(1.0, product(CUBIC, power(X, 2)))),
    total(product(ROOT_2_PI, X), product(ROOT_2_PI * CUBIC, power(X, 3))),
)
"""sqrt(2/pi) * (x + 0.044715 x^3), multiplied out or not"""

NEAR = product(0.5, X, total(1.0, node(tri.Tanh, INNER)))
"""x/2 * (1 + tanh(…))"""


class FuseGelu(Pass):
    """Recognise GELU in its parts: x/2 * (1 + erf(x / sqrt 2)), or the form with tanh.

    %e = tri.erf (tri.mul %x, 0.707…); %y = 0.5 * %x * (1 + %e)   =>   %y = tri.gelu %x
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Exact(), _Near())


class _Exact(FuseFragment):
    root = (tri.Mul, tri.Div)
    fragment = EXACT

    def build(self, found: Found, rewriter: Rewriter) -> tri.Gelu:
        return tri.Gelu.build(found.values["x"], approximate="none")


class _Near(FuseFragment):
    root = (tri.Mul, tri.Div)
    fragment = NEAR

    def build(self, found: Found, rewriter: Rewriter) -> tri.Gelu:
        return tri.Gelu.build(found.values["x"], approximate="tanh")
