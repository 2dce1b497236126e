"""The types of expressions: tensor types, and numbers, whose values are known."""

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor, broadcast
from .arithmetic import compute, size_of
from .functions import SIZE, Function
from .promotion import signature


def infer(function: Function, arguments: Sequence[Any]) -> Any:
    """Return the type of a function of tensor types and numbers; of numbers alone, the number.

    Raises Invalid for arguments that the function does not take, Unsupported for complex ones.
    """
    if function is SIZE:
        return size_of(arguments)
    shapes = [argument.shape for argument in arguments if isinstance(argument, Tensor)]
    if not shapes:
        return compute(function, arguments)
    return Tensor(broadcast(*shapes), signature(function, arguments).result)
