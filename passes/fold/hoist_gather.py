"""Gather rows of narrow tables before they are widened."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import Shape, normalize_axis
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite


class HoistGather(Pass):
    """Gather from the constants that a table is computed from, not from the table.

    The ops that compute the table are elementwise and then work on the rows that are taken: a
    vocabulary that is stored as integers and scales is never widened as a whole. Tables stay that
    are smaller than what is taken of them.

        tri.gather (tri.mul (tri.cast %q), %s), %indices
            =>   tri.mul (tri.cast (tri.gather %q, %indices)), (tri.gather %s, %indices)
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Hoist())


class _Hoist(Pattern):
    root = tri.Gather

    def rewrite(self, op: tri.Gather, rewriter: Rewriter) -> None:
        table = rewriter.find_producer(op.x)
        if table is None or not _is_step(table) or not rewriter.is_constant(op.x):
            raise NoMatch("table is not computed from constants by an elementwise op")
        if tensor_of(op.y.type).size > tensor_of(op.x.type).size:
            raise NoMatch("takes more than the table has")
        if rewriter.is_constant(op.indices):
            raise NoMatch("is a constant itself")
        steps: list[Op] = []
        stored = sum(tensor_of(v.type).size_bytes for v in _leaves(op.x, rewriter, steps))
        if stored >= tensor_of(op.x.type).size_bytes:
            raise NoMatch("table is not larger than the constants that it is computed from")
        with rewriter.before(op):
            new = _gathered(op.x, op, rewriter)
        rewriter.replace(op, [new], *steps)


def _is_step(op: Op) -> bool:
    return op.elementwise and len(op.results) == 1 and bool(op.operation.operands)


def _leaves(value: ir.Value, rewriter: Rewriter, steps: list[Op]) -> dict[ir.Value, None]:
    """Return what a table is computed from, each once; adds the ops on the way to `steps`."""
    maker = rewriter.find_producer(value)
    if maker is None or not _is_step(maker):
        return {value: None}
    steps.append(maker)
    found: dict[ir.Value, None] = {}
    for operand in maker.operation.operands:
        found |= _leaves(operand, rewriter, steps)
    return found


def _gathered(value: ir.Value, op: tri.Gather, rewriter: Rewriter) -> ir.Value:
    """Build the rows of a value of the table's shape, or of one that broadcasts to it."""
    maker = rewriter.find_producer(value)
    if maker is not None and _is_step(maker):
        operands = [_gathered(operand, op, rewriter) for operand in maker.operation.operands]
        return type(maker).build(*operands, **maker.attributes).results[0]
    rank = tensor_of(op.x.type).rank
    shape = tensor_of(value.type).shape
    full = (1,) * (rank - len(shape)) + shape
    axis = normalize_axis(op.axis, rank)
    if full[axis] == 1:
        places = (1,) * tensor_of(op.indices.type).rank
        return _reshaped(value, (*full[:axis], *places, *full[axis + 1 :]))
    return tri.Gather.build(_reshaped(value, full), op.indices, axis=op.axis).y


def _reshaped(value: ir.Value, shape: Shape) -> ir.Value:
    if tensor_of(value.type).shape == shape:
        return value
    return tri.Reshape.build(value, shape=shape).y
