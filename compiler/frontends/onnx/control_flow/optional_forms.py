"""Optionals that one branch returns with an element, and another one without."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

import numpy as np

from .....dialects.core.errors import InvalidNode
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.sizes.dim import symbols_of
from .....dialects.core.tensor import Tensor, numpy_dtype
from ...core.values import constant, filled, tensor
from ..items import EmptyOptional, FoundOptional, Item, regrouped, tensors_of

Made = tuple[Item, ...] | InvalidNode
"""What a branch returns, or why it cannot run."""

Form = TypeVar("Form")


def in_one_form(
    blocks: Sequence[ir.Block],
    made: Sequence[Made],
    form_of: Callable[[Sequence[Item]], Form],
    in_form: Callable[[Item, Form], Item],
) -> list[Made]:
    """Give each result of the branches that can run one form, in the block where it is made.

    Branches that differ in how many results they have are left as they are.
    """
    able = [each for each in made if not isinstance(each, InvalidNode)]
    if len({len(each) for each in able}) != 1:
        return list(made)
    forms = [form_of(column) for column in zip(*able, strict=True)]
    found: list[Made] = []
    for block, items in zip(blocks, made, strict=True):
        if isinstance(items, InvalidNode):
            found.append(items)
            continue
        with ir.InsertionPoint(block):
            pairs = zip(items, forms, strict=True)
            found.append(tuple(in_form(item, form) for item, form in pairs))
    return found


def in_optionals(
    blocks: Sequence[ir.Block], made: Sequence[Made], outside: Collection[str]
) -> list[Made]:
    """Return optionals where one of the branches returns nothing, each made in its own block.

    The element that a branch lacks is made of zeros. Sizes of it that are not known `outside` of
    the branches are 0.
    """

    def in_form(item: Item, like: Item | None) -> Item:
        return _in_optional(item, like, outside)

    return in_one_form(blocks, made, _element_of_some, in_form)


def _element_of_some(items: Sequence[Item]) -> Item | None:
    """Return an element of those that items have, unless all have one, or none has."""
    if not any(isinstance(item, EmptyOptional | FoundOptional) for item in items):
        return None
    elements = (item.element if isinstance(item, FoundOptional) else item for item in items)
    return next((each for each in elements if not isinstance(each, EmptyOptional)), None)


def _in_optional(item: Item, like: Item | None, outside: Collection[str]) -> Item:
    if like is None or isinstance(item, FoundOptional):
        return item
    has_element = constant(np.array(not isinstance(item, EmptyOptional)))
    element = _placeholder(like, outside) if isinstance(item, EmptyOptional) else item
    assert not isinstance(element, EmptyOptional | FoundOptional)
    return FoundOptional(has_element, element)


def _placeholder(like: Item, outside: Collection[str]) -> Item:
    types = [tensor(value) for value in tensors_of(like)]
    return regrouped(like, iter([*_zeros(types, outside)]))


def _zeros(types: Iterable[Tensor], outside: Collection[str]) -> Iterable[ir.Value]:
    for each in types:
        known = (symbols_of(size).keys() <= {*outside} for size in each.shape)
        pairs = zip(each.shape, known, strict=True)
        shape = tuple(size if is_known else 0 for size, is_known in pairs)
        made = filled(shape, np.zeros((), numpy_dtype(each.dtype)))
        yield made.results[0] if isinstance(made, Op) else constant(made)
