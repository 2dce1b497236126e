"""Lowering of determinants: a program eliminates the columns of one matrix, in registers."""

import math

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ...kernels.arithmetic import compute_dtype
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.coordinates import Axis, Coordinates
from ..kernels.epilogue import Epilogue
from ..kernels.loop import loop
from ..kernels.value import Value, full
from ..registry import accepts, template
from ..schedule.product_blocks import next_power
from .scan import NOWHERE

MOST = 64
"""The most rows of a matrix."""


@accepts(tri.Det)
def matrices_of_at_most_64(op: tri.Det) -> bool:
    """Takes matrices of at most 64 rows."""
    return tensor_of(op.x.type).shape[-1] <= MOST


@template(tri.Det)
def lower_det(op: tri.Det, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    """Eliminate with the greatest pivot of each column.

    Rows stay where they are. A row that becomes a pivot passes those before it that are left, which
    changes the sign for each. Source: Golub and Van Loan, Matrix Computations, 3.4.
    """
    outer, size = tuple(range(len(y.shape))), x.shape[-1]
    kernel.block_of("SIZE", next_power(size))
    matrix = Axis(outer, kernel.programs(math.prod(y.shape)).named("matrix"))
    rows, columns = (kernel.indices(0, "SIZE", name) for name in ("rows", "columns"))
    inner = (Axis((len(outer),), rows.expand(1)), Axis((len(outer) + 1,), columns.expand(0)))
    start = x.load(Coordinates(x.shape, (matrix, *inner))).broadcast_to(("SIZE", "SIZE"))

    def step(number: Value, matrix: Value, left: Value, product: Value) -> list[Value]:
        column = columns.equal(number).expand(0).select(matrix, 0).reduce("sum", 1)
        size = column.is_nan().select(column.like(math.inf), column.abs())
        size = left.select(size, -1)
        greatest = size.equal(size.reduce("max", 0))
        place = greatest.select(rows, NOWHERE).reduce("min", 0).named("place")
        here = rows.equal(place)
        pivot = here.select(column, 0).reduce("sum", 0).named("pivot")
        row = here.expand(1).select(matrix, 0).reduce("sum", 0)
        passed = left.logical_and(rows.less(place)).cast("i32").reduce("sum", 0)
        left = left.logical_and(here.invert())
        share = left.select(column / pivot.equal(0).select(pivot.like(1), pivot), 0)
        signed = passed.remainder(2).equal(0).select(pivot, -pivot)
        return [matrix - share.expand(1) * row.expand(0), left, product * signed]

    one = full(1, compute_dtype(x.dtype))
    *_, product = loop(0, size, 1, [start, rows.less(size), one], step, "column")
    y.store(product, Coordinates(y.shape, (matrix,)))
