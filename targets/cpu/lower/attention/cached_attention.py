"""Lowering of attention to a cache, in two ways that give the same bits."""

from .....dialects import tri
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import least
from ...kernels.loops import spread
from ...registry import template
from .few_queries import FewQueries
from .many_queries import ManyQueries

FEW = 4
"""The most queries of a head that read rows where they are."""


@template(tri.CachedAttention)
def lower_cached_attention(
    op: tri.CachedAttention,
    kernel: KernelBuilder,
    q: Buffer,
    k: Buffer,
    v: Buffer,
    starts: Buffer,
    k_scales: Buffer | None,
    v_scales: Buffer | None,
    y: Epilogue,
) -> None:
    scales = k_scales, v_scales
    few = 1 - least(q.shape[2] // (FEW + 1), 1)
    if few != 0:
        FewQueries(op, kernel, q, k, v, starts, scales, y, most=FEW).emit(few)
    if few != 1:
        many = ManyQueries(op, kernel, q, k, v, starts, scales, y)
        spread(many.section().only_if(1 - few))
