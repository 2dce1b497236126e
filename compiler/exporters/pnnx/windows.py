"""Padding as torch has it: the same on both sides of an axis, or by an operator of its own."""

from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ...frontends.pnnx import Operand
from .graph import PnnxGraph

Ints = tuple[int, ...]


def padded(
    x: ir.Value, pads: Ints, graph: PnnxGraph, value: float = 0.0, apart: bool = False
) -> tuple[ir.Value | Operand, Ints]:
    """Return what to slide a window over, and the padding that is left to the window.

    Padding that differs on the two sides of an axis, or that is wanted `apart`, is added before.
    """
    rank = len(pads) // 2
    begins, ends = pads[:rank], pads[rank:]
    if begins == ends and min(pads, default=0) >= 0 and not (apart and any(pads)):
        return x, begins
    shape = tensor_of(x.type).shape
    sizes = zip(shape[2:], begins, ends, strict=True)
    wide = (*shape[:2], *(size + b + e for size, b, e in sizes))
    made = graph.between(x, wide, "padded")
    around = tuple(n for b, e in zip(begins[::-1], ends[::-1], strict=True) for n in (b, e))
    graph.add("F.pad", {"input": x}, [made], pad=around, mode="constant", value=value)
    return made, (0,) * rank
