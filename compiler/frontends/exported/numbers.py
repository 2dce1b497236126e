"""Numbers of Python that a program computes of elements: sizes only where used as such.

Sizes are never negative, and make shapes; other numbers are computed as tensors without axes.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.tensor import is_float
from ..core.values import cast as cast_value
from ..core.values import constant, number, tensor
from ..torch.aten import aten_rule
from ..torch.expressions import apply
from .control_flow import RELATIONS
from .graph import ProgramNode, Reference
from .size_operators import SIZE_OPERATORS

ARITHMETIC = {
    "_operator.add": "add(@0,@1)",
    "_operator.sub": "sub(@0,@1)",
    "_operator.mul": "mul(@0,@1)",
    "_operator.neg": "neg(@0)",
    "_operator.floordiv": "floor_divide(@0,@1)",
    "_operator.mod": "remainder(@0,@1)",
    "_operator.truediv": "div(@0,@1)",
    "torch.sym_float": "@0",
}
"""Operators of numbers, as expressions; some make floats of integers."""

MAKE_FLOATS = ("_operator.truediv", "torch.sym_float")

COMPARISONS = tuple(f"_operator.{name}" for name in (*RELATIONS, "ne"))
"""Operators of numbers that programs have for what torch asserts, or as conditions."""


def names_of_sizes(nodes: Sequence[ProgramNode], ignored: Sequence[str]) -> frozenset[str]:
    """Return the names of values of which sizes are made: by arguments that are no tensors.

    Nodes of the `ignored` types use nothing.
    """
    sizes: set[str] = set()
    used: set[str] = set()
    for node in reversed(nodes):
        if node.type in ignored:
            continue
        results = {name for result in node.results for name in result.names}
        used |= {each for argument in node.arguments.values() for each in _names(argument)}
        if node.type in ARITHMETIC and not results & sizes:
            continue
        if node.type in COMPARISONS and not results & used:
            continue
        for key, argument in node.arguments.items():
            if not _takes_tensor(node, key, argument):
                sizes |= {*_names(argument)}
    return frozenset(sizes)


def _names(argument: Any) -> Iterator[str]:
    if isinstance(argument, Reference):
        yield argument.name
    if isinstance(argument, list):
        for each in cast("list[Any]", argument):
            yield from _names(each)


def _takes_tensor(node: ProgramNode, key: str, argument: Any) -> bool:
    """Return whether a rule takes an argument as a tensor of any elements."""
    rule = None if node.type in SIZE_OPERATORS else aten_rule(node.type)
    if rule is None or not isinstance(argument, Reference):
        return False
    slot = rule.slots.get(rule.parameter(key), rule.rest)
    return slot is not None and (ir.Value in slot.takes or Any in slot.takes)


def computed_number(type_: str, given: Sequence[Any]) -> ir.Value | None:
    """Compute a number of others, in f64 where one is a float; None for an unused comparison."""
    if type_ not in ARITHMETIC:
        return None
    values = [_value(each) for each in given]
    if type_ in MAKE_FLOATS or any(is_float(tensor(each).dtype) for each in values):
        values = [cast_value(each, "f64") for each in values]
    return values[0] if type_ == "torch.sym_float" else apply(ARITHMETIC[type_], *values)


def _value(given: Any) -> ir.Value:
    if isinstance(given, ir.Value):
        return given
    return number(given) if is_symbolic(given) else constant(np.array(given))
