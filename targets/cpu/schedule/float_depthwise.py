"""Convolve channels of whole numbers in floats."""

import math
from typing import Any

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.module import Module
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Pattern, Rewriter, rewrite
from ..layout.packed_constants import constant_before
from .magnitudes import magnitude

EXACT = 1 << 24
"""The largest sum of products up to which f32 hold every whole number."""


class FloatDepthwise(Pass):
    """Convolve whole numbers in f32 where each channel has its own kernel and sums become f32.

    The few products of such a sum are whole numbers that f32 hold: the sum is the same. Machines
    without dot products of bytes multiply f32 in one instruction, and i32 in several.

        tri.cast (tri.conv %x, %w : i32) to f32   =>   tri.conv (tri.cast %x), (tri.cast %w) : f32
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Depthwise())


class _Depthwise(Pattern):
    root = tri.Cast

    def rewrite(self, op: tri.Cast, rewriter: Rewriter) -> None:
        conv = rewriter.sole_producer(op.x, tri.Conv)
        if tensor_of(op.y.type).dtype != "f32" or tensor_of(op.x.type).dtype != "i32":
            raise NoMatch("does not make f32 of i32")
        if not conv.is_depthwise:
            raise NoMatch("sums over channels")
        w = rewriter.constant(conv.w)
        taps = math.prod(w.shape[2:])
        largest = float(np.abs(w.astype(np.float64)).max(initial=0.0))
        bias = 0.0 if conv.b is None else magnitude(conv.b, rewriter)
        if magnitude(conv.x, rewriter) * largest * taps + bias > EXACT:
            raise NoMatch(f"sums of {taps} products may not be whole numbers in f32")
        kernels = constant_before(conv, w.astype(np.float32), "weight", rewriter)
        more: dict[str, Any] = conv.attributes
        with rewriter.before(op, conv):
            x = tri.Cast.build(conv.x, to="f32").y
            b = None if conv.b is None else tri.Cast.build(conv.b, to="f32").y
            new = tri.Conv.build(x, kernels, b, **more)
        rewriter.replace(op, new, conv)
