"""Lowerings of ops without operands: numbers that follow from the sizes of a run."""

from collections.abc import Sequence

from ....dialects import tri
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr
from ..kernels.loops import each
from ..kernels.windows import neighbours
from ..registry import template

_DTYPE = "i64"


@template(tri.Iota)
def lower_iota(op: tri.Iota, kernel: KernelBuilder, y: Epilogue) -> None:
    y.emit_vectors(lambda at, lanes: neighbours(at[0], lanes, _DTYPE), _DTYPE)


@template(tri.Sizes)
def lower_sizes(op: tri.Sizes, kernel: KernelBuilder, y: Epilogue) -> None:
    flat = y.reshape((len(op.values),))
    each((1,), lambda _: _store(op.values, flat))


def _store(values: Sequence[int], y: Epilogue) -> None:
    for place, size in enumerate(values):
        y.store(IndexExpr(size).to_value(_DTYPE), [IndexExpr(place)])
