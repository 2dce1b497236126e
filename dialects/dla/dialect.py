"""The `dla` dialect object, and the base class of its ops on tensors."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..core.errors import Invalid
from ..core.numerics.fixed_point import MOST_BITS, MOST_SHIFT, ROUNDINGS
from ..core.op import Dialect, Op
from ..core.tensor import Array, Shape, Tensor

DLA = Dialect("dla")

LOW, HIGH = -128, 127


class TensorOp(Op, dialect=DLA, abstract=True):
    """Base of ops in tensor form: on i8 tensors [N, rows, columns, channels].

    All that is rescaled says how: x * multiplier / 2^shift, rounded, plus destination_zero, clamped
    to [low, high].

    `packet` is the one whose fields limit what an op may be; "" where an op is only moved about.
    """

    packet: ClassVar[str] = ""


def need_image(what: str, x: Tensor) -> Shape:
    """Return the shape of images; raise Invalid unless there are some, of i8 and rank 4."""
    if x.dtype != "i8" or x.rank != 4 or not x.size:
        raise Invalid(f"{what} is {x}, must be of i8 with rank 4, and not empty")
    return x.shape


def need_pair(what: str, numbers: Sequence[int], least: int) -> None:
    """Raise Invalid unless there is a number for rows and one for columns, and none too small."""
    if len(numbers) != 2:
        raise Invalid(f"{what} has {len(numbers)} entries, must have 2")
    if min(numbers) < least:
        raise Invalid(f"{what} is {tuple(numbers)}, must be at least {least}")


def need_scaling(
    multiplier: Sequence[int], shift: Sequence[int], rounding: str, *zeros: int
) -> None:
    """Raise Invalid for multipliers, shifts, roundings or zero points that there are not."""
    for factor in multiplier:
        if not 0 <= factor < 1 << MOST_BITS:
            raise Invalid(f"multiplier is {factor}, must be in [0, 2^{MOST_BITS})")
    for amount in shift:
        if not 0 <= amount <= MOST_SHIFT:
            raise Invalid(f"shift is {amount}, must be 0 to {MOST_SHIFT}")
    if rounding not in ROUNDINGS:
        raise Invalid(f"rounding is '{rounding}', must be one of {', '.join(ROUNDINGS)}")
    for zero in zeros:
        need_byte("zero point", zero)


def need_byte(what: str, number: int) -> None:
    """Raise Invalid unless a number is some i8."""
    if not LOW <= number <= HIGH:
        raise Invalid(f"{what} is {number}, must be in {LOW}:{HIGH}")


def need_bounds(low: int, high: int) -> None:
    """Raise Invalid unless bounds are those of some i8."""
    if not LOW <= low <= high <= HIGH:
        raise Invalid(f"clamps to {low}:{high}, must be in {LOW}:{HIGH} of i8")


def each_image(xs: Array, *others: Array) -> list[tuple[Array, ...]]:
    """Return the images of a batch, each with those at its place of others, which may be one."""
    return [(x, *(o[n if len(o) > 1 else 0] for o in others)) for n, x in enumerate(xs)]


def stacked(images: Sequence[Array]) -> Array:
    """Return images as a batch of i8."""
    return np.stack(list(images)).astype(np.int8)
