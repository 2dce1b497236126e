"""Sequences of tensors of any shapes and ranks: their elements, and a list of their shapes."""

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid, Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.tensor import Array, Shape, numpy_dtype
from ...core.sizes.found_sizes import FoundSizes
from ...core.sizes.run_time_shapes import listed
from ...core.values import constant, tensor
from ..items import MOST_RANK, JoinedSequence, RaggedSequence, TensorList
from .joined_sequences import appended, erased, inserted, length_of, split_at_lengths

NO_AXIS = -1
"""What a list of shapes has in place of the sizes that a tensor of lower rank lacks."""


def ragged(xs: TensorList | JoinedSequence | RaggedSequence) -> RaggedSequence:
    """Return a sequence as one of tensors of any shapes.

    Raises Unsupported for tensors that are joined along an axis that is not their first.
    """
    if isinstance(xs, RaggedSequence):
        return xs
    return _of_tensors(xs) if isinstance(xs, TensorList) else _of_joined(xs)


def no_tensors(dtype: str) -> RaggedSequence:
    """Return an empty sequence."""
    shapes = np.zeros((0, MOST_RANK), np.int64)
    return RaggedSequence(constant(np.zeros(0, numpy_dtype(dtype))), constant(shapes))


def _of_tensors(xs: TensorList) -> RaggedSequence:
    made = no_tensors(xs.dtype)
    if not xs.tensors:
        return made
    elements = tri.Concat.build([_flat(x) for x in xs.tensors], axis=0).y
    shapes = tri.Stack.build([_row(tensor(x).shape) for x in xs.tensors], axis=0).y
    return RaggedSequence(elements, shapes)


def _of_joined(xs: JoinedSequence) -> RaggedSequence:
    shape = tensor(xs.joined).shape
    if xs.axis:
        raise Unsupported(
            f"puts a tensor of another shape into a sequence whose tensors differ along axis "
            f"{xs.axis}, must be of the same rank and sizes but for that axis"
        )
    count = length_of(xs)
    if xs.lengths is None:
        rows = tri.Expand.build(_row(shape[1:]), shape=(count, MOST_RANK)).y
        return RaggedSequence(_flat(xs.joined), rows)
    first = tri.Reshape.build(xs.lengths, shape=(count, 1)).y
    row = listed((*shape[1:], *(NO_AXIS for _ in range(MOST_RANK - len(shape)))))
    others = tri.Expand.build(row, shape=(count, MOST_RANK - 1)).y
    return RaggedSequence(_flat(xs.joined), tri.Concat.build([first, others], axis=1).y)


def _flat(x: ir.Value) -> ir.Value:
    return tri.Reshape.build(x, shape=(tensor(x).size,)).y


def _row(shape: Shape) -> ir.Value:
    """Return the shape of a tensor as the list of shapes has it."""
    if len(shape) > MOST_RANK:
        fault = f"puts a tensor of rank {len(shape)} into a sequence of tensors of any shapes"
        raise Unsupported(f"{fault}, must be at most {MOST_RANK}")
    return listed((*shape, *(NO_AXIS for _ in range(MOST_RANK - len(shape)))))


def count_of(xs: RaggedSequence) -> Size:
    """Return how many tensors a sequence has."""
    return tensor(xs.shapes).shape[0]


def checked(xs: RaggedSequence, found: FoundSizes) -> RaggedSequence:
    """Return a sequence whose shapes must be of all its elements when the model runs."""
    whole = split_at_lengths(xs.elements, 0, _lengths(xs.shapes), found)
    return RaggedSequence(whole.joined, xs.shapes)


def _lengths(shapes: ir.Value) -> ir.Value:
    """Return how many elements each tensor has; axes that it lacks count as one."""
    return tri.ReduceProd.build(tri.Abs.build(shapes).y, axes=(1,), keepdims=False).y


def _parts(xs: RaggedSequence) -> tuple[JoinedSequence, JoinedSequence]:
    """Return the sequence of the tensors' elements, and that of their shapes."""
    elements = JoinedSequence(xs.elements, 0, _lengths(xs.shapes))
    return elements, JoinedSequence(xs.shapes, 0)


def put_in(
    xs: RaggedSequence, x: ir.Value, position: ir.Value | None, found: FoundSizes
) -> RaggedSequence:
    """Return a sequence with one more tensor before the one at a place, or at the end."""
    if tensor(x).dtype != tensor(xs.elements).dtype:
        have = tensor(xs.elements).dtype
        raise Invalid(f"puts {tensor(x)} into a sequence of {have}, must be of one type")
    elements, shapes = _parts(xs)
    flat, row = _flat(x), _row(tensor(x).shape)
    if position is None:
        made = appended(elements, flat), appended(shapes, row)
    else:
        made = inserted(elements, flat, position, found), inserted(shapes, row, position, found)
    return RaggedSequence(made[0].joined, made[1].joined)


def taken_out(xs: RaggedSequence, position: ir.Value, found: FoundSizes) -> RaggedSequence:
    """Return a sequence without the tensor at a place."""
    elements, shapes = (erased(part, position, found) for part in _parts(xs))
    return RaggedSequence(elements.joined, shapes.joined)


def tensors_of_shapes(xs: RaggedSequence, shapes: Array) -> TensorList:
    """Return the tensors of a sequence whose shapes are known."""
    each = [tuple(int(size) for size in row if size != NO_AXIS) for row in shapes]
    if not each:
        return TensorList((), tensor(xs.elements).dtype)
    sizes = tuple(int(np.prod(shape)) for shape in each)
    parts = tri.Split.build(xs.elements, axis=0, sizes=sizes).results
    pairs = zip(parts, each, strict=True)
    tensors = tuple(tri.Reshape.build(part, shape=shape).y for part, shape in pairs)
    return TensorList(tensors, tensor(xs.elements).dtype)
