"""The shapes that reshaping aims at, where one size may be left open."""

import math
from collections.abc import Sequence

from .....dialects.core.errors import Invalid, Undecided
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.checks import need_divides
from .....dialects.core.sizes.dim import highest
from .....dialects.core.tensor import Shape


def resolved(shape: Sequence[Size], count: Size, fault: str) -> Shape:
    """Fill in the one size of -1 that a shape may have for so many elements.

    Raises Invalid with `fault` where no size fits; a division that must be exact is checked.
    """
    if -1 not in shape:
        return tuple(shape)
    known = math.prod(size for size in shape if size != -1)
    if list(shape).count(-1) > 1 or known == 0:
        raise Invalid(fault)
    need_divides(count, known, fault)
    rest = _quotient(count, known)
    return tuple(rest if size == -1 else size for size in shape)


def _quotient(size: Size, divisor: Size) -> Size:
    """Divide sizes of which a check says that the divisor is not 0."""
    try:
        return size // divisor
    except Undecided:
        return size // highest(divisor, 1)
