"""Stacks of recurrent layers, in terms of their layers."""

from ...dialects import tri
from ...dialects.core.mlir import ir
from ..building import reshape, shape_of, transpose
from ..fold.fold_slices import build_slice
from .registry import decomposes


@decomposes(tri.RecurrentStack)
def recurrent_stack(op: tri.RecurrentStack) -> list[ir.Value]:
    layer = op.layer
    directions = 1 + op.bidirectional
    y = transpose(op.x, 1, 0, 2) if op.batch_first else op.x
    lasts: list[list[ir.Value]] = [[] for _ in list(op.ys)[1:]]
    for number, w in enumerate(op.w):
        own = [op.r[number], *(each[number] if each else None for each in (op.b, op.projection))]
        states = [build_slice(s, 0, number * directions, directions).y for s in op.states]
        operands = op.layer_operands([w, *own], states)
        made, *ends = type(layer).build(y, *operands, **layer.attributes).results
        y = _side_by_side(made)
        for listed, end in zip(lasts, ends, strict=True):
            listed.append(end)
    y = transpose(y, 1, 0, 2) if op.batch_first else y
    return [y, *(tri.Concat.build(ends, axis=0).y for ends in lasts)]


def _side_by_side(made: ir.Value) -> ir.Value:
    """Turn [sequence, directions, batch, size] into [sequence, batch, directions * size]."""
    length, directions, batch, size = shape_of(made)
    made = transpose(made, 0, 2, 1, 3) if directions > 1 else made
    return reshape(made, length, batch, directions * size)
