"""Sizes that the elements of values decide when a model runs, and names for them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .....dialects import tri
from .....dialects.core.data_dependent import DataDependentOp
from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.dim import symbol
from .....dialects.core.sizes.limits import bounds
from .....dialects.core.sizes.substitution import likely
from .....dialects.core.sizes.symbols import Range
from .....dialects.core.symbol_table import symbol_table
from ..main_function import MainFunction
from ..values import cast, constant, tensor
from .size_rules import Unknown


class FoundSizes:
    """Name the sizes that ops of a function find: u0, u1, …"""

    def __init__(self, main: MainFunction) -> None:
        self._main = main

    def new(self, most: Size | None, least: int = 0) -> Size:
        """Return a size for an op to find, which is at most another one; None for any size.

        Where that one is likely to be small, it is likely to be as large.
        """
        range = Range(least, None if most is None else bounds(most)[1])
        if most is not None and likely(most) < range.hint:
            range = replace(range, likely=max(likely(most), least))
        if range.high != least:
            self._main.declare_symbols({(name := self._free_name(range)): range})
            return symbol(name, range)
        return least

    def select(
        self, operands: Sequence[ir.Value | None], op: Callable[[Size], DataDependentOp]
    ) -> DataDependentOp:
        """Build an op that finds one size."""
        types = [None if value is None else tensor(value) for value in operands]
        (most,) = op(0).most(*types)
        found = op(self.new(most))
        return type(found).build(*operands, **found.attributes)

    def define(self, x: ir.Value, limits: Sequence[Size | None]) -> tuple[Size, ...]:
        """Make the elements of a list sizes when they are computed; `limits` is as for `new`."""
        sizes = tuple(map(self.new, limits))
        known = tuple(limit for limit in limits if limit is not None)
        tri.DefineSizes.build(x, sizes=sizes, limits=known if len(known) == len(limits) else ())
        return sizes

    def known(self, values: ir.Value) -> list[Size | None]:
        """List the sizes that elements of a value are, None for those that a run computes.

        Raises NeedsValue, or Undecided, where the number of elements is not known.
        """
        elements = self._main.elements(values)
        if elements is None:
            return list(self._main.sizes(values, "a list of sizes"))
        return [None if isinstance(each, Unknown) else each for each in elements.reshape(-1)]

    def compute(
        self, values: ir.Value, limits: Sequence[Size | None] | None = None
    ) -> tuple[Size, ...]:
        """Return the sizes that the elements of a value are; those that a run computes are new."""
        known = self.known(values)
        limits = (None,) * len(known) if limits is None else limits
        places = [place for place, size in enumerate(known) if size is None]
        if not places:
            return self._main.sizes(values, "a list of sizes")
        flat = tri.Reshape.build(cast(values, "i64"), shape=(len(known),)).y
        taken = tri.Gather.build(flat, constant(np.array(places, np.int64)), axis=0).y
        made = iter(self.define(taken, [limits[place] for place in places]))
        return tuple(next(made) if size is None else size for size in known)

    def _free_name(self, range: Range) -> str:
        """Return a name that no other size of the function has, and no other range."""
        table = symbol_table(self._main.module.operation.context)
        number = 0
        while (name := f"u{number}") in self._main.symbols or (
            name in table.sizes and table.ranges.get(name) != range
        ):
            number += 1
        return name
