"""What a core of a machine can do at most, which rates of kernels are held against."""

from dataclasses import dataclass, field
from math import isfinite, log

from ..errors import RunError

MEASURED, DECLARED = "measured", "declared"

FACTORS = ("f32", "i8", "bf16")
"""The types of factors that have peaks of their own; all others are held against f32."""

COPY = "copy"
"""The name of the rate of copies, beside those of element types."""


@dataclass(frozen=True)
class Peaks:
    """Hold peaks of one core: operations by element type, and bytes by how many a copy touches.

    Types that the machine has no instruction for are not there; f32 always is. `source` says
    whether somebody has measured them here, or declared them. Rates are of one second.
    """

    operations_per_second: dict[str, float]
    bytes_per_second: dict[int, float] = field(default_factory=dict[int, float])
    source: str = MEASURED

    def rate(self, dtype: str) -> float:
        """Return the peak for products of a type."""
        return self.operations_per_second.get(dtype, self.operations_per_second["f32"])

    def bandwidth(self, size_bytes: int) -> float:
        """Return the rate of a copy that touches about as many bytes, so is in the same cache."""
        near = min(self.bytes_per_second, key=lambda size: abs(log(size / max(1, size_bytes))))
        return self.bytes_per_second[near]

    @staticmethod
    def declared(text: str) -> "Peaks":
        """Return the peaks that `f32=80,i8=300,copy=12` declares: GFLOP/s by type, and GB/s.

        Raises RunError for other texts, and where f32 or copy is missing.
        """
        rates: dict[str, float] = {}
        for part in text.split(","):
            name, _, number = part.partition("=")
            try:
                rates[name.strip()] = float(number) * 1e9
            except ValueError:
                raise RunError(f"peak '{part}' must be TYPE=RATE, as in f32=80") from None
        if unknown := rates.keys() - {*FACTORS, COPY}:
            known = ", ".join((*FACTORS, COPY))
            raise RunError(f"peaks '{text}' have {', '.join(sorted(unknown))}, must be of {known}")
        for name in ("f32", COPY):
            if name not in rates:
                raise RunError(f"peaks '{text}' lack {name}, they must have f32 and {COPY}")
        if not all(isfinite(rate) and rate > 0 for rate in rates.values()):
            raise RunError(f"peaks '{text}' must be finite and above 0")
        copy = rates.pop(COPY)
        return Peaks(rates, {1: copy}, DECLARED)
