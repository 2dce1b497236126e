"""Lowering of the numbers that sizes of a run are."""

from collections.abc import Sequence

from ....dialects import tri
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr
from ..kernels.loops import each
from ..registry import template

_DTYPE = "i64"


@template(tri.Sizes)
def lower_sizes(op: tri.Sizes, kernel: KernelBuilder, y: Epilogue) -> None:
    flat = y.reshape((len(op.values),))
    each((1,), lambda _: _store(op.values, flat))


def _store(values: Sequence[int], y: Epilogue) -> None:
    for place, size in enumerate(values):
        y.store(IndexExpr(size).to_value(_DTYPE), [IndexExpr(place)])
