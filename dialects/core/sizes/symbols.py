"""The symbols of sizes: names of dimensions that change from run to run, and their ranges.

A symbol is its name; its range is declared once for each MLIR context, by the attribute
`trivium.symbols` of the main function.
"""

import keyword
import re
from dataclasses import dataclass

from ..errors import Invalid

MOST = (1 << 63) - 1
"""The greatest size that any part of Trivium can count."""

_TEXT = re.compile(r"(\d+)?(?:(\.\.)(\d+)?)?(?::(\d+))?(?:/(\d+))?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_TAKEN = re.compile(r"_[cp]?\d+|at(_\d+)?")
_LONGEST = 128
_RESERVED = frozenset(("max", "min"))
_COMMON = 128


@dataclass(frozen=True)
class Range:
    """Describe the sizes that a symbol may have: `low` to `high`, each a multiple of `step`.

    `high` is None for no limit. Costs are estimated at the size `likely`. As text it is
    `1..512:128/8`, of which everything but `low..` may be left out. Raises ValueError for an empty
    range.
    """

    low: int = 1
    high: int | None = None
    likely: int | None = None
    step: int = 1

    def __post_init__(self) -> None:
        most = MOST if self.high is None else self.high
        if not 0 <= self.low <= most <= MOST or not 1 <= self.step <= MOST:
            raise ValueError(f"range {self} is empty, must be from 0 to 2^63 - 1, low first")
        if self.likely is not None and not self.low <= self.likely <= most:
            raise ValueError(f"range {self} has a likely size outside of it")
        if self.first > most:
            raise ValueError(f"range {self} has no multiple of {self.step}")

    @property
    def first(self) -> int:
        """Return the least size of the range."""
        return -(-self.low // self.step) * self.step

    @property
    def hint(self) -> int:
        """Return the size for which costs are estimated: `likely`, or a common one."""
        size = _COMMON if self.likely is None else self.likely
        size = size if self.high is None else min(size, self.high)
        return max(size // self.step * self.step, self.first)

    def fault(self, size: int) -> str:
        """Return what a size must be if it is not in the range, else nothing."""
        if size < self.low or (self.high is not None and size > self.high):
            return f"from {self.low} to {self.high}" if self.high else f"at least {self.low}"
        return f"a multiple of {self.step}" if size % self.step else ""

    def __str__(self) -> str:
        high = "" if self.high is None else self.high
        likely = "" if self.likely is None else f":{self.likely}"
        return f"{self.low}..{high}{likely}" + (f"/{self.step}" if self.step != 1 else "")

    @staticmethod
    def parse(text: str) -> "Range":
        """Read a range as `str` writes it; raise ValueError for any other text."""
        found = _TEXT.fullmatch(text)
        if found is None or not text:
            raise ValueError(f"'{text}' is not a range such as 1..512:128/8")
        low, dots, high, likely, step = found.groups()
        if not dots and low:
            raise ValueError(f"'{text}' is a size, must be a range such as {low}..{low}")
        return Range(
            int(low) if low else 1,
            int(high) if high else None,
            int(likely) if likely else None,
            int(step) if step else 1,
        )


ANY = Range()
"""The range of a symbol of which nothing is known: sizes of 0 are legal only where declared."""


@dataclass(frozen=True)
class Symbol:
    """Name a size that is known when a model runs."""

    name: str
    range: Range = ANY

    def __str__(self) -> str:
        return self.name


def is_symbol_name(text: str) -> bool:
    """Return whether a text can be the name of a symbol in expressions."""
    reserved = text in _RESERVED or keyword.iskeyword(text)
    return _NAME.fullmatch(text) is not None and not reserved


def is_model_name(text: str) -> bool:
    """Return whether a text can name a symbol of a model.

    Words of kernels' records are `_0`, numbers of channels that kernels share `_c8` and `_p8`,
    places in an arena `at_0`, and `at` with a step is as these.
    """
    taken = _TAKEN.fullmatch(text) is not None or len(text) > _LONGEST
    return is_symbol_name(text) and not taken


def need_symbol_name(text: str) -> None:
    """Raise Invalid unless a text can be the name of a symbol."""
    if not is_symbol_name(text):
        raise Invalid(f"symbol '{text}' is not a name of letters, digits and underscores")
