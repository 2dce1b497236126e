"""Join sequences where control flow needs them to be of one form: in branches and in loops."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.dim import symbols_of
from .....dialects.core.tensor import Tensor, numpy_dtype
from ...core.sizes.run_time_shapes import listed
from ...core.values import constant, filled, tensor
from ..items import Item, JoinedSequence, RaggedSequence, Sequences, TensorList, kind_of
from ..sequences.joined_sequences import need_like
from ..sequences.ragged_sequences import ragged


@dataclass(frozen=True)
class Form:
    """Describe how a sequence is joined: what that is, along which axis, and if of any lengths."""

    joined: Tensor
    axis: int
    has_lengths: bool


@dataclass(frozen=True)
class AnyShapes:
    """Stand for the form of sequences whose tensors may have any shapes."""


Forms: TypeAlias = Form | AnyShapes | list[Tensor] | None
"""How sequences are joined: a form, or the tensors that it must fit; None where nothing is."""


def form_of(items: Sequence[Item], outside: Collection[str]) -> Forms:
    """Return how sequences are joined that must be of one form; None for what is, or for no lists.

    It is that of one that is joined, or is found from the types of all tensors. A form has types
    alone, and may be kept when the values are gone. `outside` is as for `begin_carried`.
    """
    if any(isinstance(item, RaggedSequence) for item in items):
        return AnyShapes() if all(isinstance(item, Sequences) for item in items) else None
    lists = [item for item in items if isinstance(item, TensorList)]
    joined = [item for item in items if isinstance(item, JoinedSequence)]
    if not lists or len(lists) + len(joined) < len(items):
        return None
    if joined:
        return Form(tensor(joined[0].joined), joined[0].axis, joined[0].lengths is not None)
    if len({kind_of(each) for each in lists}) == 1:
        return None
    return form_of_tensors([tensor(x) for each in lists for x in each.tensors], outside)


def form_of_tensors(types: list[Tensor], outside: Collection[str]) -> AnyShapes | list[Tensor]:
    """Return how tensors of some types are joined: as they are where one axis differs at most."""
    alike = len({each.rank for each in types}) <= 1
    return types if alike and len(_axes_that_differ(types, outside)) <= 1 else AnyShapes()


def _axes_that_differ(types: Sequence[Tensor], outside: Collection[str]) -> list[int]:
    sizes = [[each.shape[axis] for each in types] for axis in range(types[0].rank if types else 0)]
    return [
        axis
        for axis, each in enumerate(sizes)
        if len({*each}) > 1 or not symbols_of(each[0]).keys() <= {*outside}
    ]


def in_form(item: Item, form: Forms, outside: Collection[str]) -> Item:
    """Return an item as a form says, which leaves items alone that are no lists of tensors."""
    if isinstance(form, AnyShapes) and isinstance(item, Sequences):
        return ragged(item)
    if form is None or isinstance(form, AnyShapes) or not isinstance(item, TensorList):
        return item
    if isinstance(form, Form):
        return _joined_like(item, form)
    return begin_carried(item, form, outside)


def _joined_like(xs: TensorList, form: Form) -> JoinedSequence:
    for x in xs.tensors:
        need_like(form.joined, form.axis, form.has_lengths, x)
    if form.has_lengths:
        return _joined_along(form.axis, xs, form.joined)
    if xs.tensors:
        return JoinedSequence(tri.Stack.build(xs.tensors, axis=form.axis).y, form.axis)
    sizes = form.joined.shape
    empty = _empty((*sizes[: form.axis], 0, *sizes[form.axis + 1 :]), xs.dtype)
    return JoinedSequence(empty, form.axis)


def begin_carried(
    xs: TensorList, after: Sequence[Tensor], outside: Collection[str]
) -> JoinedSequence | RaggedSequence:
    """Return what a loop carries instead of a sequence that has other tensors after an iteration.

    A size of the tensors that symbols of the body decide may differ: they are joined along its
    axis. `outside` has the symbols that are known before the loop.
    """
    types = [*map(tensor, xs.tensors), *after]
    if not types:
        raise Unsupported("joins a sequence of no tensors, must be tensors of one rank")
    if isinstance(form_of_tensors(types, outside), AnyShapes):
        return ragged(xs)
    axes = _axes_that_differ(types, outside)
    if axes:
        return _joined_along(axes[0], xs, types[0])
    if xs.tensors:
        return JoinedSequence(tri.Stack.build(xs.tensors, axis=0).y, 0)
    return JoinedSequence(_empty((0, *types[0].shape), xs.dtype), 0)


def _joined_along(axis: int, xs: TensorList, like: Tensor) -> JoinedSequence:
    lengths = [tensor(x).shape[axis] for x in xs.tensors]
    if xs.tensors:
        return JoinedSequence(tri.Concat.build(xs.tensors, axis=axis).y, axis, listed(lengths))
    shape = (*like.shape[:axis], 0, *like.shape[axis + 1 :])
    return JoinedSequence(_empty(shape, xs.dtype), axis, constant(np.zeros(0, np.int64)))


def _empty(shape: Sequence[Size], dtype: str) -> ir.Value:
    made = filled(tuple(shape), np.zeros((), numpy_dtype(dtype)))
    return made.results[0] if isinstance(made, Op) else constant(made)
