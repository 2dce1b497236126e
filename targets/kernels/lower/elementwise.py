"""Registration of the shared elementwise lowerings in the table of a target."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from ....dialects.core.attributes import tensor_of
from ....dialects.core.op import Op
from ..kernel_table import KernelTable
from . import activation as activation  # registers lowerings
from . import arithmetic as arithmetic
from . import gamma as gamma
from .shared import ARITHMETIC, FORMULAS, MOVING, Functions, Value

_NONE: Mapping[str, Functions] = MappingProxyType({})


def register_elementwise(
    table: KernelTable,
    functions: Functions,
    adapt: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda formula: formula,
    others: Mapping[str, Functions] = _NONE,
) -> None:
    """Register the elementary functions of a target and all shared lowerings in its table.

    `adapt` wraps each formula, as a target needs that computes formulas in a wider type. `others`
    has the functions for results of other element types.
    """

    def suited(op: Op) -> Functions:
        return others.get(tensor_of(op.results[0].type).dtype, functions)

    for op in functions:
        table.elementwise(op)(partial(_apply, suited))
    for op, lowering in ARITHMETIC.items():
        table.elementwise(op, types=table.moves if op in MOVING else None)(lowering)
    for op, lowering in FORMULAS.items():
        table.elementwise(op)(adapt(partial(_by_formula, lowering, suited)))


def _apply(suited: Callable[[Op], Functions], op: Op, x: Value) -> Value:
    return suited(op)[type(op)](x)


def _by_formula(
    lowering: Callable[..., Value], suited: Callable[[Op], Functions], op: Op, *operands: Value
) -> Value:
    return lowering(suited(op), op, *operands)
