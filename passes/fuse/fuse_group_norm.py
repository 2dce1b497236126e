"""Recognise group normalisation."""

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.module import Module
from ..constants import hint
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite


class FuseGroupNorm(Pass):
    """Recognise an instance normalisation of groups of channels between reshapes.

    The scale and the bias of its groups, which must be constant, are repeated for all channels of
    each group. Those that follow for each channel are left to `fold-scale`.

        %r = tri.reshape %x to 1x8x4096; %n = tri.instance_norm %r
        %y = tri.reshape %n to 1x32x32x32   =>   %y = tri.group_norm %x {8}
    """

    def run(self, module: Module) -> None:
        rewrite(module, _GroupNorm())


class _GroupNorm(Pattern):
    root = tri.Reshape

    def rewrite(self, op: tri.Reshape, rewriter: Rewriter) -> None:
        norm = rewriter.sole_producer(op.x, tri.InstanceNorm)
        grouping = rewriter.producer(norm.x, tri.Reshape)
        shape, (batch, groups) = tensor_of(grouping.x.type).shape, grouping.shape[:2]
        if op.shape != shape or len(shape) < 3:
            raise NoMatch(f"reshapes to {op.shape}, not back to {shape}")
        if batch != shape[0] or shape[1] % groups:
            raise NoMatch(f"{groups} groups in {batch} batches do not hold the channels of {shape}")
        repeats = shape[1] // groups
        scale, bias = (np.repeat(rewriter.constant(v), repeats) for v in (norm.scale, norm.bias))
        with rewriter.before(op):
            scale, bias = (
                tri.build_constant(rewriter.module, v, hint(norm)) for v in (scale, bias)
            )
            new = tri.GroupNorm.build(
                grouping.x, scale.results[0], bias.results[0], groups=groups, epsilon=norm.epsilon
            )
        rewriter.replace(op, new, norm, grouping)
