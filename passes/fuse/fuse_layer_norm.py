"""Recognise layer normalisation."""

from ...dialects import tri
from ...dialects.core.module import Module
from ..core import Pass
from ..matching import Found, FuseFragment, minus, node, power, product, scalar, total, value
from ..rewriting import NoMatch, Rewriter, rewrite
from .normalization import ScaleNorm, ShiftNorm, check_affine, trailing_axis

X = value("x")

CENTERED = total(X, minus(node(tri.ReduceMean, X, name="mean")))
VARIANCE = node(tri.ReduceMean, product(power(CENTERED, 2)), name="variance")
FACTOR = power(total(VARIANCE, scalar("epsilon")), -0.5)
"""1 / sqrt(mean((x - mean(x))^2) + epsilon)"""


class FuseLayerNorm(Pass):
    """Recognise (x - mean) / sqrt(variance + epsilon), and the constants that follow.

    The mean is over the last axes; a constant factor becomes the scale, a constant term the bias.

    %d = %x - mean(%x); %y = %d / sqrt(mean(%d * %d) + 1e-5) * %scale + %bias
        =>   %y = tri.layer_norm %x, %scale, %bias {1e-5}
    """

    def run(self, module: Module) -> None:
        rewrite(module, _LayerNorm(), _ScaledLayerNorm(), ScaleNorm(), ShiftNorm())


class _LayerNorm(FuseFragment):
    root = (tri.Mul, tri.Div)
    fragment = product(CENTERED, FACTOR)

    def build(self, found: Found, rewriter: Rewriter) -> tri.LayerNorm:
        x = found.values["x"]
        axis = trailing_axis(found.values["mean"], rewriter)
        if trailing_axis(found.values["variance"], rewriter) != axis:
            raise NoMatch("mean and variance are over different axes")
        scale = found.values.get("scale")
        if scale is not None:
            check_affine(scale, axis, x, rewriter)
        return tri.LayerNorm.build(x, scale, axis=axis, epsilon=found.numbers["epsilon"])


class _ScaledLayerNorm(_LayerNorm):
    """The same where the scale multiplies the factor, before the centred x does."""

    fragment = product(CENTERED, value("scale"), FACTOR)
