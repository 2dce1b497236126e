"""Build the ops that take numbers of few bits out of bytes."""

import numpy as np

from ..dialects import tri
from ..dialects.core.mlir import ir
from .building import constant, reshape, shape_of


def unpack_bits(x: ir.Value, bits: int) -> ir.Value:
    """Return numbers of `bits` bits in ui8: 8 / bits times as many along the last axis as bytes.

    The first one is in the lowest bits of a byte.
    """
    if bits == 8:
        return x
    count, shape = 8 // bits, shape_of(x)
    apart = reshape(x, *shape, 1)
    shifted = tri.ShiftRight.build(apart, constant(np.arange(0, 8, bits).tolist(), "ui8")).y
    numbers = tri.BitwiseAnd.build(shifted, constant((1 << bits) - 1, "ui8")).y
    return reshape(numbers, *shape[:-1], shape[-1] * count)
