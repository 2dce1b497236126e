"""Recognise RMS normalisation."""

from ...dialects import tri
from ...dialects.core.module import Module
from ..core import Pass
from ..matching import Found, FuseFragment, node, power, product, scalar, total, value
from ..rewriting import Rewriter, rewrite
from .normalization import ScaleNorm, check_affine, trailing_axis

X = value("x")

SQUARES = node(tri.ReduceMean, product(power(X, 2)), name="mean")
FACTOR = power(total(SQUARES, scalar("epsilon")), -0.5)
"""1 / sqrt(mean(x^2) + epsilon)"""


class FuseRmsNorm(Pass):
    """Recognise x / sqrt(mean(x^2) + epsilon), and the constant scale that follows.

    %m = tri.reduce_mean (tri.mul %x, %x); %y = %x * rsqrt(%m + 1e-6) * %scale
        =>   %y = tri.rms_norm %x, %scale {1e-6}
    """

    def run(self, module: Module) -> None:
        rewrite(module, _RmsNorm(), _ScaledRmsNorm(), ScaleNorm())


class _RmsNorm(FuseFragment):
    root = (tri.Mul, tri.Div)
    fragment = product(X, FACTOR)

    def build(self, found: Found, rewriter: Rewriter) -> tri.RmsNorm:
        x = found.values["x"]
        axis = trailing_axis(found.values["mean"], rewriter)
        scale = found.values.get("scale")
        if scale is not None:
            check_affine(scale, axis, x, rewriter)
        return tri.RmsNorm.build(x, scale, axis=axis, epsilon=found.numbers["epsilon"])


class _ScaledRmsNorm(_RmsNorm):
    """The same where the scale multiplies the factor, before x does."""

    fragment = product(X, value("scale"), FACTOR)
