"""Transform constant kernels for Winograd's method when the package is loaded."""

import numpy as np

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....passes.rewriting import Rewriter
from .packed_constants import Split, constant_before, packed_parts

Convolution = tri.Conv | cpu.DotConv | cpu.DotPanelConv


def transformed_parts(
    op: Convolution, tile: int, split: Split, rewriter: Rewriter
) -> list[ir.Value]:
    """Build, before a convolution, its transformed kernels: [count, points, channels, outputs].

    `split` returns the taps of kernels in parts, [count, taps, channels, outputs]. They are
    transformed in f32 when a package is loaded: it holds the taps, 9 for the 36 points of a tile
    of 4. Raises NoMatch where the kernels depend on an input.
    """
    parts = packed_parts(op, op.w, split, rewriter)
    matrix = constant_before(op, cpu.kernel_matrix(tile).astype(np.float32), "transform", rewriter)
    with rewriter.before(op):
        return [_transformed(part, matrix) for part in parts]


def _transformed(taps: ir.Value, matrix: ir.Value) -> ir.Value:
    count, size, channels, outputs = tensor_of(taps.type).shape
    rows = tri.Reshape.build(taps, shape=(count, size, channels * outputs)).y
    if tensor_of(rows.type).dtype != tensor_of(matrix.type).dtype:
        rows = tri.Cast.build(rows, to=tensor_of(matrix.type).dtype).y
    points = tri.MatMul.build(matrix, rows).y
    shape = (count, tensor_of(matrix.type).shape[0], channels, outputs)
    return tri.Reshape.build(points, shape=shape).y
