"""Statistics of the values of runs, and how far the same values of two models are apart."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf, nan
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import RunError
from ..slots import quote
from ..spelling import spell_shape

_EPSILON = 1e-5
"""What keeps `growth` finite where an element is 0, as in Paddle Lite."""


class ValueStatistics(NamedTuple):
    """Describe the numbers of a value; of complex numbers, their sizes.

    All but the counts of what is not finite are of finite numbers alone, and not a number where
    there are none. `growth` is the mean of how much larger an element is than the one before it,
    as a part of that one, in the order of memory. Source: `ave_grow_rate` of Paddle Lite's
    precision profiler.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    mean: float = nan
    std: float = nan
    least: float = nan
    most: float = nan
    growth: float = nan
    nans: int = 0
    infinities: int = 0

    @staticmethod
    def of(name: str, array: NDArray[Any]) -> "ValueStatistics":
        """Return the statistics of an array; text has none but type and shape."""
        head = ValueStatistics(name, str(array.dtype), array.shape)
        if array.dtype.kind == "O":
            return head
        numbers = _real(array)
        finite = numbers[np.isfinite(numbers)]
        nans = int(np.isnan(numbers).sum())
        counts = {"nans": nans, "infinities": numbers.size - finite.size - nans}
        if not finite.size:
            return head._replace(**counts)
        return head._replace(
            mean=float(finite.mean()),
            std=float(finite.std()),
            least=float(finite.min()),
            most=float(finite.max()),
            growth=float((np.diff(finite) / (finite[:-1] + _EPSILON)).sum() / finite.size),
            **counts,
        )


RunStatistics = tuple[ValueStatistics, ...]
"""The statistics of each kept value and of each output of a run."""


class Divergence(NamedTuple):
    """Record how far a value of two models is apart.

    `cosine` is that of the angle between the two as vectors, and `difference` the largest
    difference of two elements. `relative` is the length of the difference as a part of the length
    of the first one. They are of elements that are finite in both; `unlike` counts those that are
    so in one alone, or are different infinities.
    """

    first: ValueStatistics
    second: ValueStatistics
    cosine: float
    difference: float
    relative: float
    unlike: int

    @property
    def name(self) -> str:
        """Return the name of the value."""
        return self.first.name

    @staticmethod
    def of(name: str, first: NDArray[Any], second: NDArray[Any]) -> "Divergence | None":
        """Compare two arrays; None for text. Raises RunError for arrays of different shapes."""
        if first.shape != second.shape:
            shapes = " and ".join(spell_shape(each.shape) for each in (first, second))
            raise RunError(f"value '{name}' has shapes {shapes}: these are not the same model")
        if "O" in (first.dtype.kind, second.dtype.kind):
            return None
        a, b = _numbers(first), _numbers(second)
        both = np.isfinite(a) & np.isfinite(b)
        unlike = int((~both & (a != b) & ~(np.isnan(a) & np.isnan(b))).sum())
        a, b = a[both], b[both]
        apart = np.abs(a - b)
        one, other, length = _length(a), _length(b), _length(apart)
        cosine = float(np.vdot(a, b).real) / (one * other) if one and other else nan
        if not one and not other:
            cosine = 1.0
        return Divergence(
            ValueStatistics.of(name, first),
            ValueStatistics.of(name, second),
            cosine,
            float(apart.max(initial=0.0)),
            length / one if one else inf if length else 0.0,
            unlike,
        )


@dataclass(frozen=True)
class Comparison:
    """Hold the values of two models, those that are furthest apart first.

    `first_alone` and `second_alone` are the names of values that the other one does not have.
    """

    values: tuple[Divergence, ...]
    first_alone: tuple[str, ...]
    second_alone: tuple[str, ...]


class Valued(Protocol):
    """What runs and tells its values, as a session does."""

    def values(self, feeds: Mapping[str, Any], /) -> Iterable[Mapping[str, NDArray[Any]]]:
        """Yield what each run has computed for kept values and outputs."""
        ...


def compare_values(first: Valued, second: Valued, feeds: Mapping[str, ArrayLike]) -> Comparison:
    """Run two packages of a model, and compare their outputs and the values that both keep.

    State begins as `reset_state` has it. Raises RunError where no value is in both.
    """
    (one,), (other,) = first.values(feeds), second.values(feeds)
    shared = [name for name in one if name in other]
    if not shared:
        sides = " and ".join(quote(each) for each in (one, other))
        raise RunError(f"no value is in both packages: {sides}")
    found = [Divergence.of(name, one[name], other[name]) for name in shared]
    values = [each for each in found if each is not None]
    values.sort(key=lambda each: (-each.unlike, -each.relative))
    return Comparison(
        tuple(values),
        tuple(name for name in one if name not in other),
        tuple(name for name in other if name not in one),
    )


def _numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Return the elements in one row, as wide numbers."""
    wide = np.complex128 if array.dtype.kind == "c" else np.float64
    return cast("NDArray[Any]", array.reshape(-1).astype(wide))


def _real(array: NDArray[Any]) -> NDArray[np.float64]:
    numbers = _numbers(array)
    return np.abs(numbers) if numbers.dtype.kind == "c" else numbers


def _length(numbers: NDArray[Any]) -> float:
    return float(np.linalg.norm(numbers))
