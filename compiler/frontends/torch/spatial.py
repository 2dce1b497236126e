"""Shared by rules for windows: a batch that torch may omit, one number for all axes."""

from collections.abc import Callable

from ....dialects.core.errors import Invalid
from ..core.values import tensor
from .registry import Value
from .views import Ints, reshape


def batched(x: Value, axes: int) -> tuple[Value, Callable[[Value], Value]]:
    """Return [N, C, spatial…] of a tensor that may have no batch, and what drops that again."""
    rank = tensor(x).rank
    if rank == axes + 2:
        return x, lambda y: y
    if rank != axes + 1:
        raise Invalid(f"has an input of rank {rank}, must have {axes + 2}, or {axes + 1}")
    return reshape(x, (1, *tensor(x).shape)), lambda y: reshape(y, tensor(y).shape[1:])


def per_axis(values: Ints, axes: int) -> Ints:
    """Return a number for each spatial axis; one number is for all of them."""
    if len(values) == 1:
        return values * axes
    if len(values) != axes:
        raise Invalid(f"has {values} for {axes} spatial axes, must have as many, or one")
    return values
