"""Take rows before they are multiplied, where only some of the rows of a product are wanted."""

from collections.abc import Sequence
from typing import Any

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op, view
from ...dialects.core.sizes.limits import at_least, is_same
from ...dialects.core.tensor import normalize_axis
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite, users
from .fold_slices import build_slice

Selection = tri.Gather | tri.Slice
PRODUCTS = (tri.MatMul, tri.Linear, tri.BlockQuantizedMatMul)
NORMS = (tri.LayerNorm, tri.RmsNorm)

FARTHEST = 16
"""How many ops before a selection are looked at, to see whether there is a product."""


class HoistRows(Pass):
    """Take rows of the operand of a product, not of the product.

    What is elementwise or normalises rows, between the product and where rows are taken, then works
    on these alone. A decoder needs the logits of its last token only, a classifier the first row.
    Gathers and slices along one axis are moved that take fewer rows than there are, or may do so
    where sizes are symbols, of values of which nothing else is used.

        tri.gather (tri.mat_mul %x, %w), %rows {axis = 1}
            =>   tri.mat_mul (tri.gather %x, %rows {axis = 1}), %w
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Hoist())


class _Hoist(Pattern):
    root = (tri.Gather, tri.Slice)

    def rewrite(self, op: Selection, rewriter: Rewriter) -> None:
        axis = _axis(op)
        made, given = tensor_of(op.y.type), tensor_of(op.x.type)
        if at_least(made.shape[axis], given.shape[axis]) or made.likely.size > given.likely.size:
            raise NoMatch("takes as much as there is")
        if rewriter.is_constant(op.x):
            raise NoMatch("takes parts of a constant")
        if not _finds_product(op.x, axis, op, op, rewriter, FARTHEST):
            raise NoMatch("takes no rows of a product")
        maker = rewriter.find_producer(op.x)
        assert maker is not None
        with rewriter.before(op, maker):
            operands = [
                value if value is None or place is None else _selected(op, value, place)
                for value, place in _operands(maker, axis)
            ]
            new = type(maker).build(*operands, **maker.attributes)
        rewriter.replace(op, new, maker)


def _axis(op: Selection) -> int:
    """Return the axis along which a part is taken, from the last one on, which is -1."""
    rank = tensor_of(op.x.type).rank
    if isinstance(op, tri.Gather):
        if tensor_of(op.indices.type).rank != 1:
            raise NoMatch("does not keep its axes")
        return normalize_axis(op.axis, rank) - rank
    shape = tensor_of(op.x.type).shape
    places = zip(op.starts, op.sizes, op.steps, shape, strict=True)
    whole = [start == 0 and step == 1 and is_same(n, all_) for start, n, step, all_ in places]
    if whole.count(True) != rank - 1:
        raise NoMatch("takes parts along several axes, or none")
    return [each is True for each in whole].index(False) - rank


def _finds_product(
    value: ir.Value, axis: int, op: Selection, user: Op, rewriter: Rewriter, steps: int
) -> bool:
    """Return whether a value is a product of its rows, or computed from one row by row.

    `user` uses it on the way to `op`. Nothing else may, but for what takes the same part.
    """
    maker = rewriter.find_producer(value)
    if maker is None or not steps:
        return False
    if not all(each == user.operation or _is_like(each, op) for each in users(value)):
        return False
    operands = _operands(maker, axis)
    if isinstance(maker, PRODUCTS):
        return bool(operands)
    return any(
        _finds_product(operand, place, op, maker, rewriter, steps - 1)
        for operand, place in operands
        if operand is not None and place is not None
    )


def _is_like(user: ir.Operation, op: Selection) -> bool:
    """Return whether an operation takes the same part of the same value as another one."""
    other = view(user)
    if other is None or type(other) is not type(op):
        return False
    same = list(other.operation.operands) == list(op.operation.operands)
    return same and other.attributes == op.attributes


def _operands(op: Op, axis: int) -> Sequence[tuple[ir.Value | None, int | None]]:
    """Return each operand with the axis of its rows, None for one that all rows share.

    It is empty for an op that does not compute rows along an axis one by one.
    """
    groups: list[Any] = op.operand_groups()
    shape = tensor_of(op.results[0].type).shape if len(op.results) == 1 else ()
    if any(isinstance(each, list) for each in groups):
        return []
    if op.elementwise and shape:
        return _broadcast(groups, shape[axis], axis)
    if isinstance(op, PRODUCTS):
        first, *others = groups
        matrix = not isinstance(op, tri.MatMul) or tensor_of(op.b.type).rank == 2
        fits = axis < -1 and (matrix or axis == -2) and tensor_of(first.type).rank == len(shape)
        return [(first, axis), *((each, None) for each in others)] if fits else []
    if isinstance(op, NORMS) and normalize_axis(op.axis, len(shape)) > axis + len(shape):
        first, *others = groups
        return [(first, axis), *((each, None) for each in others)]
    return []


def _broadcast(
    values: Sequence[ir.Value | None], size: int, axis: int
) -> Sequence[tuple[ir.Value | None, int | None]]:
    found: list[tuple[ir.Value | None, int | None]] = []
    for value in values:
        shape = () if value is None else tensor_of(value.type).shape
        if len(shape) < -axis or is_same(shape[axis], 1):
            found.append((value, None))
        elif is_same(shape[axis], size):
            found.append((value, axis))
        else:
            return []
    return found


def _selected(op: Selection, value: ir.Value, axis: int) -> ir.Value:
    if isinstance(op, tri.Gather):
        return tri.Gather.build(value, op.indices, axis=axis).y
    start, size, step = op.starts[axis], op.sizes[axis], op.steps[axis]
    return build_slice(value, axis + tensor_of(value.type).rank, start, size, step).y
