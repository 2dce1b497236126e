"""Read in place what kernels see with strides: parts and permutations of other values."""

from collections.abc import Sequence

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.location import inner_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, direct_ops, functions
from ....dialects.core.op import Op, view
from ....dialects.core.tensor import DTYPES, Shape, Tensor, normalize_axis
from ....passes.core import Pass
from ....passes.fuse.grouping import build_group
from ....passes.rewriting import users
from ...kernels.strided import StridedBuffer
from ...memory.strides import parts_of, row_major
from ..lower.read_views import READERS, VIEWS, viewed
from .tiles import evict_each_other

TOGETHER = 14
"""Rows that are read together: those of a tile."""


class ReadInPlace(Pass):
    """Let attention and concatenation read slices and transpositions without copies of them.

    These are put into the group of the op that reads them, if all sizes are known, the last axis is
    contiguous and rows do not evict each other from a cache. Attention also stores its result as a
    transposition that is all that reads it.

        %a = tri.transpose %q; %y = tri.attention %a, %k, %v; %z = tri.transpose %y
            =>   %z = tri.group %q, %k, %v { transpose; attention; transpose }
    """

    def run(self, module: Module) -> None:
        with module.operation.context:
            for function in functions(module.operation):
                for op in direct_ops(function.regions[0].blocks[0]):
                    if isinstance(op, READERS):
                        _read_in_place(op)


class _Strides(StridedBuffer):
    """The strides of a view, without memory."""

    def __init__(self, shape: Shape, dtype: str, strides: Shape) -> None:
        self.tensor, self.strides = Tensor(shape, dtype), strides

    def with_strides(self, shape: Shape, strides: Shape) -> "_Strides":
        return _Strides(shape, self.dtype, strides)

    def slice(self, starts: Sequence[int], sizes: Shape, steps: Sequence[int]) -> "_Strides":
        apart = tuple(s * step for s, step in zip(self.strides, steps, strict=True))
        return _Strides(sizes, self.dtype, apart)


def _read_in_place(op: Op) -> None:
    members: list[Op] = []
    for index, value in enumerate(list(op.operation.operands)):
        if chain := _views_before(value):
            members += _copied(chain, op)
            op.operation.operands[index] = members[-1].results[0]
    members += [op, *_transposition(op)]
    if len(members) > 1:
        build_group(members)


def _views_before(value: ir.Value) -> list[ir.Value]:
    """Return the views that end in a value, the operand of whose first one is to be read instead.

    Nothing where only its shape changes: between kernels, that is free.
    """
    chain: list[ir.Value] = []
    while isinstance(value, ir.OpResult) and isinstance(op := view(value.owner), VIEWS):
        chain.insert(0, value)
        value = op.x
    while chain and not _is_readable(chain):
        del chain[0]
    shapes = (isinstance(view(value.owner), tri.Reshape) for value in chain)
    return [] if all(shapes) else chain


def _is_readable(chain: Sequence[ir.Value]) -> bool:
    """Return whether the last view can be read, and fast, where the operand of the first one is."""
    source = tensor_of(chain[0].owner.operands[0].type)
    if not source.is_static:
        return False
    seen: _Strides | None = _Strides(source.shape, source.dtype, row_major(source.shape))
    for value in chain:
        seen = viewed(value, seen) if seen is not None and tensor_of(value.type).is_static else None
    if seen is None or not seen.shape or seen.strides[-1] != 1:
        return False
    apart = [stride for stride, size in zip(seen.strides, seen.shape, strict=True) if size > 1]
    size = DTYPES[seen.dtype].itemsize
    return not any(evict_each_other(TOGETHER, int(stride) * size) for stride in apart[-2:-1])


def _copied(chain: Sequence[ir.Value], reader: Op) -> list[Op]:
    """Copy the ops of views before their reader; of one that splits, the part that is read."""
    made: list[Op] = []
    x = chain[0].owner.operands[0]
    for value in chain:
        op = view(value.owner)
        assert isinstance(op, VIEWS)
        with ir.InsertionPoint(reader.operation), inner_location(op.location):
            made.append(_copy(op, value, x))
        x = made[-1].results[0]
    return made


def _copy(op: Op, value: ir.Value, x: ir.Value) -> Op:
    match op:
        case tri.Reshape():
            return tri.Reshape.build(x, shape=op.shape)
        case tri.Transpose():
            return tri.Transpose.build(x, permutation=op.permutation)
        case tri.Slice():
            return tri.Slice.build(x, starts=op.starts, sizes=op.sizes, steps=op.steps)
        case tri.Split():
            shape = tensor_of(x.type).shape
            axis = normalize_axis(op.axis, len(shape))
            start = parts_of(op.sizes)[op.ys.index(value)][0]
            starts = tuple(start if d == axis else 0 for d in range(len(shape)))
            sizes = tensor_of(value.type).shape
            return tri.Slice.build(x, starts=starts, sizes=sizes, steps=(1,) * len(shape))
        case _:
            raise TypeError(f"{op.op_name} is not a view")


def _transposition(op: Op) -> list[Op]:
    """Return the transposition that alone reads the result of attention, if rows stay whole."""
    if not isinstance(op, tri.Attention) or not tensor_of(op.y.type).is_static:
        return []
    found = [view(user) for user in users(op.y)]
    match found:
        case [tri.Transpose() as behind] if behind.permutation[-1] == len(behind.permutation) - 1:
            return [behind]
        case _:
            return []
