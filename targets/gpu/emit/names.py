"""Names for the values of a kernel in its source: those they were given, made unique."""

import builtins
import keyword
import re
from collections.abc import Iterable

RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "tl", "triton"})
"""Names that mean something to Python or to Triton's kernels."""


class Names:
    """Give out names, each one once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.imported = {*RESERVED, *taken}

    def reserve(self, names: Iterable[str]) -> None:
        """Exclude names from those that `unique` returns."""
        self.imported.update(names)

    def unique(self, wish: str) -> str:
        """Return a name like the one wished for: `x`, `x_1`, `x_2`, …"""
        plain = re.sub(r"\W+", "_", wish, flags=re.ASCII).strip("_") or "value"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        name, count = plain, 0
        while name in self.imported:
            count += 1
            name = f"{plain}_{count}"
        self.imported.add(name)
        return name
