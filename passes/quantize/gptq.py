"""Round matrices so that products with inputs like those of calibration data change little."""

from typing import Any

import numpy as np

from ...dialects.core.tensor import Array
from .block_rounding import BlockForm, RoundedMatrix

DAMPING = 0.01
"""What part of the mean of its diagonal is added to that of a Hessian, so that it is definite."""

LAZY = 128
"""For how many columns at most errors are gathered before columns behind these are corrected."""


def round_by_hessian(
    matrix: Array, hessian: Array, form: BlockForm, dtype: Any = np.float32
) -> RoundedMatrix:
    """Round [rows, depth] column by column; later columns make up for the errors of earlier ones.

    `hessian` is the sum of x xᵀ over inputs, [depth, depth]. Scales are chosen when a block is
    reached. Source: Frantar et al., "GPTQ", 2022.
    """
    rows, depth = matrix.shape
    rest = matrix.astype(np.float64)
    upper = _factor(hessian)
    blocks = -(-depth // form.block)
    numbers = np.full((rows, blocks * form.block), form.middle, np.uint8)
    scales, zeros = np.ones((rows, blocks), np.float32), np.zeros((rows, blocks), np.float32)
    for start in range(0, depth, max(LAZY, form.block)):
        end = min(start + max(LAZY, form.block), depth)
        errors = np.zeros((rows, end - start))
        for column in range(start, end):
            block = column // form.block
            if column % form.block == 0:
                inside = rest[:, column : min(column + form.block, depth)]
                scales[:, block], zeros[:, block] = form.scales_of(inside, dtype)
            scale, zero = scales[:, block], zeros[:, block]
            rounded = form.numbers_of(rest[:, column], scale, zero)
            numbers[:, column] = rounded
            error = (rest[:, column] - (rounded - zero) * scale) / upper[column, column]
            rest[:, column:end] -= np.outer(error, upper[column, column:end])
            errors[:, column - start] = error
        rest[:, end:] -= errors @ upper[start:end, end:]
    for block in range(blocks):  # what fills up the last block is zero
        fill = slice(max(block * form.block, depth), (block + 1) * form.block)
        numbers[:, fill] = zeros[:, block, None]
    return RoundedMatrix(numbers.reshape(rows, blocks, form.block), scales, zeros)


def _factor(hessian: Array) -> Array:
    """Return the upper Cholesky factor of the inverse; inputs that are always zero stand alone."""
    damped = np.array(hessian, np.float64)
    diagonal = np.einsum("ii->i", damped)
    diagonal[diagonal == 0] = 1
    diagonal += DAMPING * diagonal.mean()
    return np.linalg.cholesky(np.linalg.inv(damped)).T.copy()
