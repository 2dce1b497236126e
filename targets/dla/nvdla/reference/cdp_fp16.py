"""Local response normalisation of fp16: squares and sums in 32 bits, tables and results in 17."""

import numpy as np
import numpy.typing as npt

from ..format.operations import CdpOperation, Lut
from .floats import (
    FP16,
    FP17,
    FP32,
    Bits,
    add,
    bits_of,
    float16_of,
    from_fraction,
    multiply,
    narrow,
    subtract,
    widen,
)
from .lookup_fp16 import FRACTION_BITS, Interpolation, select

_TABLE_FRACTION_BITS = 16


def normalize_fp16(
    image: npt.NDArray[np.generic], operation: CdpOperation, lut: Lut
) -> npt.NDArray[np.float16]:
    """Return the results [C, H, W], float16, of a float16 image [C, H, W].

    The converters have no effect. Channels that do not exist are 0.
    """
    values = widen(bits_of(image), FP16, FP17)
    wide = widen(values, FP17, FP32)
    sums = wide if operation.bypass_square_sum else _sums(wide, operation.local_size)
    factors = select(sums, lut, _CDP)
    if operation.bypass_output_multiplier:
        results = np.where(FP32.is_nan(wide), values, factors)
    else:
        results = multiply(values, factors, FP17)
    return float16_of(narrow(results, FP17, FP16))


def _sums(values: Bits, size: int) -> Bits:
    """Add the squares of the neighbours pair by pair, from the nearest to the farthest."""
    squares = multiply(values, values, FP32)
    half = size // 2
    padded = np.pad(squares, ((half, half), (0, 0), (0, 0)))
    count = len(values)

    def neighbour(distance: int) -> Bits:
        return padded[half + distance : half + distance + count]

    total = add(add(neighbour(-1), neighbour(1), FP32), neighbour(0), FP32)
    for distance in range(2, half + 1):
        total = add(total, add(neighbour(-distance), neighbour(distance), FP32), FP32)
    return total


def _inside(before: Bits, after: Bits, fraction: Bits) -> Bits:
    rise = subtract(widen(after, FP16, FP32), widen(before, FP16, FP32), FP32)
    cut = fraction >> (FRACTION_BITS - _TABLE_FRACTION_BITS)
    part = from_fraction(cut, _TABLE_FRACTION_BITS, FP17)
    return add(multiply(narrow(rise, FP32, FP17), part, FP17), widen(before, FP16, FP17), FP17)


def _outside(entry: Bits, rise: Bits) -> Bits:
    return add(rise, entry, FP17)


_CDP = Interpolation(_inside, _outside)
