"""Sums of x xᵀ over the inputs of products, by running a model on data."""

from collections.abc import Iterator, Sequence

import numpy as np

from ...dialects.core.interface import input_names, set_results
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.tensor import Array
from ...passes.quantize.quantize_weights import weight_products
from ...targets.core import Progress
from .observe import Feed
from .variants import compiled, copied

MOST_BYTES = 1 << 30
"""How much memory sums may take at once; the data are run again for those of further products."""


def hessians(module: Module, feeds: Sequence[Feed], progress: Progress) -> Iterator[Array]:
    """Yield the sum for the input of each product of `weight_products`, in order: [depth, depth].

    Products of one input share its sum.
    """
    watched = _Watched(module, progress)
    names, depths = watched.names, watched.depths
    known: dict[str, Array] = {}
    for place, name in enumerate(names):
        if name not in known:
            known = watched.sums(_next(names[place:], depths[place:]), feeds)
        yield known[name]


def _next(names: Sequence[str], depths: Sequence[int]) -> list[str]:
    """Return the first names whose sums fit in memory together, one at least."""
    chosen: dict[str, int] = {}
    for name, depth in zip(names, depths, strict=True):
        taken = sum(size * size * 8 for size in chosen.values())
        if name not in chosen and chosen and taken + depth * depth * 8 > MOST_BYTES:
            break
        chosen[name] = depth
    return list(chosen)


class _Watched:
    """A model compiled with the inputs of its products as results."""

    def __init__(self, module: Module, progress: Progress) -> None:
        made = copied(module)
        products = weight_products(made)
        self.depths = [each.depth for each in products]
        arguments: list[ir.Value] = list(made.main_block.arguments)
        inputs = dict(zip(arguments, input_names(made), strict=True))
        values = [each.op.a for each in products]
        own = [f"products.{values.index(value)}.input" for value in values]
        self.names = [inputs.get(a, name) for a, name in zip(values, own, strict=True)]
        found: dict[str, ir.Value] = dict(zip(self.names, values, strict=True))
        set_results(made, {n: v for n, v in found.items() if v not in inputs})
        self._session = compiled(made, progress)

    def sums(self, names: Sequence[str], feeds: Sequence[Feed]) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for feed in feeds:
            arrays = {**feed, **self._session.run(feed)}
            for name in names:
                x = arrays[name].astype(np.float64)
                x = x.reshape(-1, x.shape[-1])
                found[name] = found.get(name, 0) + x.T @ x
        return found
