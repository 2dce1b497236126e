"""Plan the arenas of values whose sizes are found while a program runs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...dialects.core.data_dependent import DataDependentOp
from ...dialects.core.mlir import ir
from ...dialects.core.op import view
from ...dialects.core.sizes.atoms import Size
from ...dialects.core.sizes.dim import symbols_of
from ...dialects.core.symbol_scope import symbols_defined
from ..memory.arena import Interval, Plan
from ..memory.regions import plan_sizes
from ..memory.values import space_named
from .calls import Call


@dataclass(frozen=True)
class FoundStages:
    """Number the stages of a program: what finds sizes while it runs begins one, from 1 on.

    `numbers` has the stage of each symbol; `blocks` those that begin in a body, or in the calls of
    the function for None.
    """

    numbers: dict[str, int]
    blocks: dict[ir.Block | None, set[int]]

    @staticmethod
    def of(calls: Sequence[Call]) -> "FoundStages":
        """Number the stages of calls, those in their bodies before their own."""
        stages = FoundStages({}, {})
        stages._add(calls, None)
        return stages

    def _add(self, calls: Sequence[Call], block: ir.Block | None) -> None:
        self.blocks[block] = {0} if block is None else set()
        if isinstance(owner := None if block is None else view(block.owner), DataDependentOp):
            self._begin({symbol.name for symbol in owner.defined_inside}, block)
        for call in calls:
            for body in call.bodies:
                self._add(body.calls, body.block)
            self._begin(symbols_defined(call.op), block)

    def _begin(self, symbols: Collection[str], block: ir.Block | None) -> None:
        if symbols:
            stage = max(self.numbers.values(), default=0) + 1
            self.numbers.update(dict.fromkeys(sorted(symbols), stage))
            self.blocks[block].add(stage)


def stage_of(size: Size, found: Mapping[str, int]) -> int:
    """Return the number of the call after which a size is known; 0 for those known before."""
    symbols = symbols_of(size) if found else ()
    return max((found.get(name, 0) for name in symbols), default=0)


def plan_found(
    intervals: Mapping[tuple[int, str], Sequence[Interval]], first: int
) -> tuple[tuple[str, Plan], ...]:
    """Plan the arenas of each stage: of what depends on sizes that are found there.

    There is one for each stage and memory, of which `intervals` has the values, in order. Regions
    are numbered from `first` on: others have the sizes that are known before a run.
    """
    plans: list[tuple[str, Plan]] = []
    for (_, memory), here in intervals.items():
        plans.append((memory, plan_sizes(here, space_named(memory).alignment, first)))
        first += len(here)
    return tuple(plans)
