"""The arithmetic of the own op of acme, on tensors, on tiles and in packets."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from trivium.dialects.core.numerics.integers import Factor, finish

Bytes = NDArray[np.int8]


@dataclass(frozen=True)
class Slopes:
    """Two straight lines that meet at the zero points, in integers.

    y = clamp(round((x - source_zero) * m / 2^shift) + destination_zero), where m is `multiplier`
    from `source_zero` on, and `negative_multiplier` below it.
    """

    source_zero: int
    multiplier: int
    negative_multiplier: int
    shift: int
    rounding: str
    destination_zero: int

    def of(self, x: Bytes) -> Bytes:
        """Return what becomes of bytes."""
        wide = x.astype(np.int64) - self.source_zero
        above = Factor(self.multiplier, self.shift, self.rounding).times(wide)
        below = Factor(self.negative_multiplier, self.shift, self.rounding).times(wide)
        return finish(np.where(wide < 0, below, above), self.destination_zero, -128, 127)
