"""Find matrices that are stored in a narrower type than they are multiplied in."""

from dataclasses import dataclass

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Array
from ....dialects.cpu.matmul import NARROW
from ....passes.rewriting import Rewriter


@dataclass(frozen=True)
class NarrowMatrix:
    """Hold the narrow constant from which a matrix is computed.

    `scale` is one number, or one for each column; None means 1.
    """

    stored: ir.Value
    scale: Array | None = None


def find_narrow(matrix: ir.Value, columns: int, rewriter: Rewriter) -> NarrowMatrix | None:
    """Return the narrow constant and the scales of an f32 matrix; `columns` is its column axis.

    Return None if the matrix is no narrow constant, or its scales vary within a column.
    """
    maker = rewriter.find_producer(matrix)
    if not isinstance(maker, tri.Mul):
        return _cast(matrix, None, rewriter)
    scale = rewriter.find_constant(maker.b)
    shape = tensor_of(matrix.type).shape
    if scale is None or tensor_of(maker.a.type).shape != shape:
        return None
    full = (1,) * (len(shape) - scale.ndim) + scale.shape
    if scale.size == 1:
        return _cast(maker.a, scale.reshape(()), rewriter)
    if full[1 - columns] != 1:
        return None
    return _cast(maker.a, scale.reshape(-1), rewriter)


def _cast(value: ir.Value, scale: Array | None, rewriter: Rewriter) -> NarrowMatrix | None:
    cast = rewriter.find_producer(value)
    if not isinstance(cast, tri.Cast) or cast.to != "f32":
        return None
    if tensor_of(cast.x.type).dtype not in NARROW or not rewriter.is_constant(cast.x):
        return None
    return NarrowMatrix(cast.x, scale)
