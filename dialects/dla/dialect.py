"""The `dla` dialect object, the base class of its ops on tensors, and checks that these share."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..core.errors import Invalid, need_one_of
from ..core.numerics.fixed_point import ROUNDINGS, need_factors
from ..core.op import Dialect, Op
from ..core.tensor import Array, Shape, Tensor

DLA = Dialect("dla")

LOW, HIGH = -128, 127


class TensorOp(Op, dialect=DLA, abstract=True):
    """Base of ops on i8 tensors [N, rows, columns, channels].

    A result is rescaled as x * multiplier / 2^shift, rounded, plus destination_zero, and clamped to
    [low, high]. `packet` is the packet whose fields limit the attributes; "" for ops that only move
    values.
    """

    packet: ClassVar[str] = ""


def need_image(what: str, x: Tensor) -> Shape:
    """Return the shape of images; raise Invalid unless they are of i8, rank 4 and not empty."""
    if x.dtype != "i8" or x.rank != 4 or not x.size:
        raise Invalid(f"{what} is {x}, must be of i8 with rank 4, and not empty")
    return x.shape


def need_pair(what: str, numbers: Sequence[int], least: int) -> None:
    """Raise Invalid unless there are two numbers, for rows and columns, of at least `least`."""
    if len(numbers) != 2:
        raise Invalid(f"{what} has {len(numbers)} entries, must have 2")
    if min(numbers) < least:
        raise Invalid(f"{what} is {tuple(numbers)}, must be at least {least}")


def need_scaling(
    multiplier: Sequence[int], shift: Sequence[int], rounding: str, *zeros: int
) -> None:
    """Raise Invalid for multipliers, shifts, roundings or zero points out of range."""
    need_factors(multiplier, shift)
    need_one_of("rounding", rounding, ROUNDINGS)
    for zero in zeros:
        need_byte("zero point", zero)


def need_byte(what: str, number: int) -> None:
    """Raise Invalid unless a number fits i8."""
    if not LOW <= number <= HIGH:
        raise Invalid(f"{what} is {number}, must be in {LOW}:{HIGH}")


def need_bounds(low: int, high: int) -> None:
    """Raise Invalid unless bounds are an interval of i8."""
    if not LOW <= low <= high <= HIGH:
        raise Invalid(f"clamps to {low}:{high}, must be in {LOW}:{HIGH} of i8")


def each_image(xs: Array, *others: Array) -> list[tuple[Array, ...]]:
    """Return the images of a batch, each with the images of others, which may be broadcast."""
    return [(x, *(o[n if len(o) > 1 else 0] for o in others)) for n, x in enumerate(xs)]


def stacked(images: Sequence[Array]) -> Array:
    """Return images as a batch of i8."""
    return np.stack(list(images)).astype(np.int8)
