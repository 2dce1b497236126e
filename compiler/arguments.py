"""The arguments of the public functions: what each must be, checked before any work.

Those that decide about generated code are checked where they are defined: `targets/options.py`.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from ..dialects.core.arguments import (
    Check,
    checked,
    flag,
    function,
    mapping,
    name,
    one_of,
    optional,
    whole_number,
)
from ..dialects.core.errors import CompileError, Diagnostic, Invalid
from ..dialects.core.tensor import Array
from ..runtime.cpu.thread_pool import checked_threads

P = ParamSpec("P")
R = TypeVar("R")

MOST = (1 << 63) - 1
"""The largest size of a dimension."""


def checked_arguments(**own: Check) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that checks and converts a function's arguments before it runs.

    The checks are those of CHECKS, and `own` ones of the function. A call raises CompileError that
    lists all arguments that are not what they must be.
    """
    checks = {**CHECKS, **own}

    def decorate(called: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(called)

        @wraps(called)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature.bind(*args, **kwargs)
            _check_all(bound.arguments, checks)
            return called(*bound.args, **bound.kwargs)

        return call

    return decorate


def _check_all(arguments: dict[str, Any], checks: Mapping[str, Check]) -> None:
    """Convert arguments in place; raise CompileError that lists those that a check refuses."""
    faults: list[Diagnostic] = []
    for key in arguments.keys() & checks:
        try:
            arguments[key] = checked(key, arguments[key], checks[key])
        except CompileError as error:
            faults += error.diagnostics
    if faults:
        raise CompileError(sorted(faults, key=str))


_size = optional(whole_number(0, MOST))


def _shapes(value: Any) -> dict[str, Any]:
    """Check sizes by the names of dimensions, and whole shapes by the names of inputs."""
    given = mapping("sizes or shapes")(value)
    return {key: _size_or_shape(f"shapes['{key}']", each) for key, each in given.items()}


def _size_or_shape(label: str, value: Any) -> int | tuple[int | None, ...] | None:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        return checked(label, value, _size)
    sizes = cast("Sequence[Any]", value)
    return tuple(checked(f"{label}[{i}]", size, _size) for i, size in enumerate(sizes))


def _constants(value: Any) -> dict[str, Array]:
    """Check arrays by the names of inputs."""
    given = mapping("arrays")(value)
    return {key: checked(f"constants['{key}']", each, _array) for key, each in given.items()}


def _array(value: Any) -> Array:
    """Check a numpy array, or what numpy makes one of without a copy of its numbers."""
    if not hasattr(value, "__array__"):
        raise Invalid("must be a numpy array")
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise Invalid(f"must convert to a numpy array: {error}") from None


CHECKS: Mapping[str, Check] = {
    "target": name,
    "shapes": optional(_shapes),
    "constants": optional(_constants),
    "opt_level": one_of((0, 1, 2)),
    "strict": flag,
    "progress": optional(function),
    "threads": checked_threads,
}
"""What arguments must be, by name: the same in all functions that have them."""
