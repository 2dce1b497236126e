"""The part of a manifest that says where the weights of the source are."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..contents import Contents, Part
from ..dtypes import itemsize, stored
from ..errors import PackageError, RunError
from ..frozen import Frozen


class SourceWeight(Frozen):
    """Place one weight of the source model in the constants of a package.

    `order` lists its axes as they follow one another in memory.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    offset: int
    order: tuple[int, ...]

    @property
    def size_bytes(self) -> int:
        """Return how many bytes the weight takes."""
        return math.prod(self.shape) * (itemsize(self.dtype) or 1)


@dataclass(frozen=True)
class RefitPart(Part):
    """List the weights of the source: all else of a package that depends on them is computed.

    The load steps do that, so a package with other bytes in these places is the package of the
    model with these weights.
    """

    kind: ClassVar[str] = "refit"

    weights: tuple[SourceWeight, ...] = ()

    def check(self, contents: Contents) -> None:
        names = [weight.name for weight in self.weights]
        for i, weight in enumerate(self.weights):
            where = f"weights[{i}]"
            if names.index(weight.name) != i:
                raise PackageError(f"'{where}.name' is '{weight.name}', as is an earlier one")
            if itemsize(weight.dtype) is None or any(size < 0 for size in weight.shape):
                raise PackageError(f"'{where}' is {weight.dtype} {list(weight.shape)}, is no type")
            if sorted(weight.order) != list(range(len(weight.shape))):
                raise PackageError(f"'{where}.order' is {list(weight.order)}, must have each axis")
            if not 0 <= weight.offset <= contents.memory.weight_bytes - weight.size_bytes:
                raise PackageError(
                    f"'{where}.offset' is {weight.offset}, must be the place of "
                    f"{weight.size_bytes} bytes in {contents.memory.weight_bytes}"
                )

    def summary(self) -> str:
        return f"{len(self.weights)} weights that may be updated"

    def written(self, constants: memoryview, given: Mapping[str, ArrayLike]) -> memoryview:
        """Return a copy of the constants of a package with other weights.

        Raises RunError for other names, shapes and types than the weights of the source have.
        """
        known = {weight.name: weight for weight in self.weights}
        arrays = [(_known(name, known), np.asarray(array)) for name, array in given.items()]
        for weight, array in arrays:
            dtype = stored(weight.dtype)
            if array.shape != weight.shape or array.dtype != dtype:
                raise RunError(
                    f"weight '{weight.name}' is {array.dtype.name} {list(array.shape)}, must be "
                    f"{dtype.name} {list(weight.shape)}"
                )
        made = np.frombuffer(constants, np.uint8).copy()
        for weight, array in arrays:
            data = np.ascontiguousarray(array.transpose(weight.order)).reshape(-1).view(np.uint8)
            made[weight.offset : weight.offset + data.size] = data
        return made.data


def _known(name: str, known: Mapping[str, SourceWeight]) -> SourceWeight:
    if name in known:
        return known[name]
    close = get_close_matches(name, known, 1)
    advice = f"; did you mean '{close[0]}'?" if close else ""
    raise RunError(
        f"'{name}' is no weight that the package reads: weights of floats are, but single numbers "
        f"and what was computed when the model was compiled are not{advice}"
    )
