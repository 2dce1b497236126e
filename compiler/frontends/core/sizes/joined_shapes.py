"""Sizes that a branch or a loop finds: those in which what bodies return differs, or changes."""

from collections.abc import Collection, Mapping, Sequence

from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.dim import highest, symbols_of
from .....dialects.core.sizes.limits import at_least, bounds
from .....dialects.core.sizes.substitution import substitute
from .....dialects.core.tensor import Shape, Tensor
from .found_sizes import FoundSizes


def joined_shape(
    types: Sequence[Tensor], found: FoundSizes, outside: Collection[str]
) -> tuple[Shape, tuple[Size, ...]]:
    """Return a shape for values of some types of one rank, and the sizes in it that are found.

    These are the sizes in which types differ, or that depend on symbols which are not known
    `outside` of the bodies.
    """
    shape: list[Size] = []
    made: list[Size] = []
    for sizes in zip(*(each.shape for each in types), strict=True):
        size = sizes[0]
        if len({*sizes}) > 1 or not symbols_of(size).keys() <= {*outside}:
            size = found.new(_most(sizes, outside), min(bounds(each)[0] or 0 for each in sizes))
            made += [size] if is_symbolic(size) else []
        shape.append(size)
    return tuple(shape), tuple(made)


def _most(sizes: Sequence[Size], outside: Collection[str]) -> Size | None:
    """Return a size that others are at most, which is known outside of bodies, if there is one."""
    most = highest(*(_at_most(size, outside) for size in sizes))
    fits = all(at_least(most, size) for size in sizes)
    return most if fits and symbols_of(most).keys() <= {*outside} else None


def _at_most(size: Size, outside: Collection[str]) -> Size:
    """Replace symbols of a body by the greatest size of each."""
    inner = (each for name, each in symbols_of(size).items() if name not in outside)
    highs: Mapping[str, Size] = {
        each.name: each.range.high for each in inner if each.range.high is not None
    }
    return substitute(size, highs)
