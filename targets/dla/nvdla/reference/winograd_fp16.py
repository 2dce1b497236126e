"""Winograd convolutions with fp16: pixels transformed in 17 bits, products summed at once.

The products of all 16 places of a few channels are aligned together, as those of a block of a
direct convolution are, and each of the 2x2 results adds some of them.
"""

import numpy as np
import numpy.typing as npt

from .accumulator import Accumulator
from .floats import FP16, FP17, Bits, add, float32_of, narrow, subtract, widen
from .mac import sums_of_products

_PLACES = 16


def sums_fp16(tiles: Bits, weights: Bits, results: Bits, block: int) -> npt.NDArray[np.float32]:
    """Return the results [K, 2, 2, Y, X] of tiles [C, Y, X, 4, 4] and weights [K, C, 4, 4].

    Both are bits of fp16; `results` [2, 4] are the signs with which rows, and columns, of sums make
    results. A `block` of products is summed at once.
    """
    rows, columns = tiles.shape[1:3]
    # From [C, Y, X, 4, 4] to [16, C, Y * X].
    data = _transformed(tiles).transpose(3, 4, 0, 1, 2).reshape(_PLACES, len(tiles), -1)
    kernels = weights.transpose(0, 2, 3, 1).reshape(len(weights), _PLACES, -1)
    total = Accumulator.zeros((len(weights), 4, rows * columns))
    count = max(block // _PLACES, 1)
    for start in range(0, len(tiles), count):
        part = slice(start, min(start + count, len(tiles)))
        signs = np.kron(np.kron(results, results), np.ones(part.stop - start, np.int64))
        products = data[:, part].reshape(-1, rows * columns)
        total = total.plus(
            sums_of_products(kernels[:, :, part].reshape(len(weights), -1), products, signs)
        )
    return float32_of(total.to_fp32()).reshape(len(weights), 2, 2, rows, columns)


def _transformed(tiles: Bits) -> Bits:
    """Return transformed tiles of fp16: rows, then columns, are added in 17 bits."""
    wide = _added(_added(widen(tiles, FP16, FP17), -2), -1)
    return narrow(wide, FP17, FP16)


def _added(values: Bits, axis: int) -> Bits:
    a, b, c, d = np.moveaxis(values, axis, 0)
    parts = [subtract(a, c, FP17), add(b, c, FP17), subtract(c, b, FP17), subtract(b, d, FP17)]
    return np.stack(parts, axis)
