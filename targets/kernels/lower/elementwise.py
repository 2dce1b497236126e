"""Registration of the shared elementwise lowerings in the table of a target."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ....dialects.core.op import Op
from ..kernel_table import KernelTable
from . import activation as activation  # registers lowerings
from . import arithmetic as arithmetic
from . import gamma as gamma
from .shared import ARITHMETIC, FORMULAS, MOVING, Functions, Value


def register_elementwise(
    table: KernelTable,
    functions: Functions,
    adapt: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda formula: formula,
) -> None:
    """Register the elementary functions of a target and all shared lowerings in its table.

    `adapt` wraps each formula, as a target needs that computes formulas in a wider type.
    """
    for op, function in functions.items():
        table.elementwise(op)(partial(_apply, function))
    for op, lowering in ARITHMETIC.items():
        table.elementwise(op, types=table.moves if op in MOVING else None)(lowering)
    for op, lowering in FORMULAS.items():
        table.elementwise(op)(adapt(partial(lowering, functions)))


def _apply(function: Callable[[Value], Value], op: Op, x: Value) -> Value:
    return function(x)
