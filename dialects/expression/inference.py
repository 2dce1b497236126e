"""The types of expressions: tensor types, and numbers, whose values are known."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import Undecided
from ..core.sizes.atoms import Size, is_symbolic
from ..core.sizes.dim import floordiv, highest, lowest, symbols_of
from ..core.tensor import Tensor, broadcast
from .arithmetic import compute, size_of
from .functions import SIZE, Function
from .promotion import signature


def _same(size: Size) -> Size:
    return size


def _square(size: Size) -> Size:
    return size * size


SIZE_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("ceil", "floor", "int", "round", "torch.long", "trunc"), _same),
    **dict.fromkeys(("max", "maximum"), highest),
    **dict.fromkeys(("min", "minimum"), lowest),
    "add": operator.add,
    "floor_divide": floordiv,
    "mul": operator.mul,
    "neg": operator.neg,
    "remainder": operator.mod,
    "square": _square,
    "sub": operator.sub,
}
"""The functions of sizes that make sizes."""


def infer(function: Function, arguments: Sequence[Any]) -> Any:
    """Return the type of a function of tensor types and numbers; of numbers alone, the number.

    Raises Invalid for arguments that the function does not take, Unsupported for complex ones, and
    Undecided for a number that is no size, but depends on one that is not known.
    """
    if function is SIZE:
        return size_of(arguments)
    shapes = [argument.shape for argument in arguments if isinstance(argument, Tensor)]
    if not shapes:
        return _number(function, arguments)
    return Tensor(broadcast(*shapes), signature(function, arguments).result)


def _number(function: Function, arguments: Sequence[Any]) -> Any:
    symbolic = [argument for argument in arguments if is_symbolic(argument)]
    if not symbolic:
        return compute(function, arguments)
    signature(function, arguments)
    others = (argument for argument in arguments if not is_symbolic(argument))
    if function.name in SIZE_FUNCTIONS and all(type(each) is int for each in others):
        return SIZE_FUNCTIONS[function.name](*arguments)
    names = ", ".join(name for size in symbolic for name in symbols_of(size))
    raise Undecided(
        f"'{function.name}' takes {symbolic[0]}, which must be known at compile time: bind {names}"
    )
