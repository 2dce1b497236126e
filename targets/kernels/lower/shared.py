"""Decorators of elementwise lowerings that serve the values of every target."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ....dialects.core.op import Op
from ..arithmetic import Arithmetic

Function = TypeVar("Function", bound=Callable[..., Any])
Value = Arithmetic[Any]
Functions = Mapping[type[Op], Callable[[Any], Any]]
"""The elementary functions of a target, each by the op that it computes."""

ARITHMETIC: dict[type[Op], Callable[..., Any]] = {}
"""Lowerings `f(op, *values) -> value` by operators alone."""

MOVING: set[type[Op]] = set()
"""Those by operators that move elements as they are stored."""

FORMULAS: dict[type[Op], Callable[..., Any]] = {}
"""Lowerings `f(functions, op, *values) -> value` that round more than once.

They may use the elementary functions of the target, which may compute them in a wider type.
"""


def arithmetic(*classes: type[Op], moves: bool = False) -> Callable[[Function], Function]:
    """Register the decorated function as a lowering by operators alone, for all targets.

    With `moves`, it takes the element types that a target moves, not those that it computes with.
    """
    if moves:
        MOVING.update(classes)
    return _register(ARITHMETIC, classes)


def formula(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register the decorated function as a formula by elementary functions, for all targets."""
    return _register(FORMULAS, classes)


def _register(
    lowerings: dict[type[Op], Callable[..., Any]], classes: tuple[type[Op], ...]
) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        lowerings.update(dict.fromkeys(classes, function))
        return function

    return register
