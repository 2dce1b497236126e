"""Build the ops that take numbers of few bits out of bytes."""

import numpy as np

from ...core.attributes import tensor_of
from ...core.mlir import ir
from ..constant import Constant
from ..elementwise.binary import BitwiseAnd, ShiftRight
from .reshape import Reshape


def build_unpacked(x: ir.Value, bits: int) -> ir.Value:
    """Return numbers of `bits` bits in ui8: 8 / bits times as many along the last axis as bytes.

    The first one is in the lowest bits of a byte.
    """
    if bits == 8:
        return x
    count, shape = 8 // bits, tensor_of(x.type).shape
    shifts = Constant.build(value=np.arange(0, 8, bits, dtype=np.uint8)).y
    mask = Constant.build(value=np.array((1 << bits) - 1, np.uint8)).y
    shifted = ShiftRight.build(Reshape.build(x, shape=(*shape, 1)).y, shifts).y
    numbers = BitwiseAnd.build(shifted, mask).y
    return Reshape.build(numbers, shape=(*shape[:-1], shape[-1] * count)).y
