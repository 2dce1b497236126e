"""Plan the arenas of values whose sizes are found while a program runs."""

from collections.abc import Mapping, Sequence

from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.location import describe
from ...dialects.core.sizes.atoms import Size
from ...dialects.core.sizes.dim import symbols_of
from ...dialects.core.symbol_scope import symbols_defined
from ..memory.arena import Interval, Plan
from ..memory.regions import plan_sizes
from ..memory.values import space_named
from .calls import Call


def number_finding_calls(calls: Sequence[Call], inside: Sequence[Call]) -> dict[str, int]:
    """Number the calls that find sizes, from 1; return the number for each symbol.

    Raises CompileError for calls `inside` of branches and loops that find sizes.
    """
    for call in inside:
        if symbols_defined(call.op):
            message = f"'{call.op.op_name}' op finds sizes in a branch or a loop, must be outside"
            raise CompileError([Diagnostic(describe(call.op.location), message)])
    numbers: dict[str, int] = {}
    stage = 0
    for call in calls:
        symbols = symbols_defined(call.op)
        stage += bool(symbols)
        numbers |= dict.fromkeys(sorted(symbols), stage)
    return numbers


def stage_of(size: Size, found: Mapping[str, int]) -> int:
    """Return the number of the call after which a size is known; 0 for those known before."""
    symbols = symbols_of(size) if found else ()
    return max((found.get(name, 0) for name in symbols), default=0)


def plan_found(
    intervals: Mapping[str, Sequence[Interval]], first: int, found: Mapping[str, int]
) -> tuple[tuple[str, Plan], ...]:
    """Plan the arenas of what depends on sizes that each call finds: none of it is live before.

    There is one for each call and memory, of which `intervals` has the values. Regions are numbered
    from `first` on: others have the sizes that are known before a run.
    """
    plans: list[tuple[str, Plan]] = []
    for stage in range(1, max(found.values(), default=0) + 1):
        for memory, every in intervals.items():
            here = [each for each in every if stage_of(each.size_bytes, found) == stage]
            plans.append((memory, plan_sizes(here, space_named(memory).alignment, first)))
            first += len(here)
    return tuple(plans)
