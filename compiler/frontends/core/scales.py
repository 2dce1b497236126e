"""Scales of resizing, and sizes that may depend on symbols."""

import math

from ....dialects.core.errors import Unsupported
from ....dialects.core.sizes.atoms import Size, is_symbolic, terms_of


def scaled(size: Size, span: float, scale: float) -> Size:
    """Return the size of a part of an axis times a scale, rounded down; floats are fractions."""
    if not is_symbolic(size):
        return math.floor(size * span * scale)
    if span != 1:
        raise Unsupported(f"takes a part of an axis of size {size}, which must be known")
    above, below = scale.as_integer_ratio()
    return size * above // below


def scale_between(wanted: Size, size: Size) -> float | None:
    """Return the quotient of two sizes; None unless it is the same in all runs."""
    if wanted == size:
        return 1.0
    if not is_symbolic(wanted) and not is_symbolic(size):
        return wanted / size if size else None
    product, below = next(iter(terms_of(size).items()))
    above = terms_of(wanted).get(product, 0)
    return above / below if wanted * below == size * above else None
