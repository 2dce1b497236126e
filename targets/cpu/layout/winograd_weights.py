"""Transform constant kernels for Winograd's method when the package is loaded."""

import numpy as np

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Array
from ....passes.building import cast
from ....passes.rewriting import Rewriter
from .packed_constants import Split, constant_before, packed_parts

LEAST, MOST = 2.0**-10, 2.0**14
"""Kernels whose transforms f16 holds: limits of the largest number of an output."""

Convolution = tri.Conv | cpu.DotConv | cpu.DotPanelConv


def transformed_parts(
    op: Convolution, tile: int, split: Split, rewriter: Rewriter, stored: str = "f32"
) -> list[ir.Value]:
    """Build, before a convolution, its transformed kernels: [count, points, channels, outputs].

    `split` returns the taps of kernels in parts, [count, taps, channels, outputs]. They are
    transformed in f32 when a package is loaded, and `stored` in a type: the package holds the taps,
    9 for the 36 points of a tile of 4. Raises NoMatch where the kernels depend on an input.
    """
    parts = packed_parts(op, op.w, split, rewriter)
    matrix = constant_before(op, cpu.kernel_matrix(tile).astype(np.float32), "transform", rewriter)
    with rewriter.before(op):
        return [_transformed(part, matrix, stored) for part in parts]


def fit_f16(kernels: Array) -> bool:
    """Return whether transforms of kernels, [outputs, channels, taps…], lose 2^-12 in f16 at most.

    Outputs of which all numbers are zero fit.
    """
    largest = np.abs(kernels.astype(np.float32)).reshape(len(kernels), -1).max(1, initial=0)
    return bool(((largest == 0) | ((largest >= LEAST) & (largest <= MOST))).all())


def _transformed(taps: ir.Value, matrix: ir.Value, stored: str) -> ir.Value:
    count, size, channels, outputs = tensor_of(taps.type).shape
    rows = tri.Reshape.build(taps, shape=(count, size, channels * outputs)).y
    points = cast(tri.MatMul.build(matrix, cast(rows, "f32")).y, stored)
    shape = (count, tensor_of(matrix.type).shape[0], channels, outputs)
    return tri.Reshape.build(points, shape=shape).y
