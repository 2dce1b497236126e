"""Give arenas to what loops carry with sizes that change: it goes on without a copy.

The argument of a body has an arena of its own, and so has the value that the body computes for the
next iteration: a session exchanges the two. What is appended in place is in the arena of the
argument, which keeps its content when it grows.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.location import describe
from ...dialects.core.mlir import ir
from ...dialects.core.sizes.dim import ceildiv
from ...dialects.core.sizes.substitution import likely
from ...runtime.contents import PROCESS
from ..memory.arena import ALIGNMENT
from ..memory.regions import Region, RegionPlan
from ..memory.values import memory_of
from .bodies import Numbering, changing_ends
from .calls import Call
from .found_arenas import stage_of
from .in_place import updates_in


@dataclass(frozen=True)
class CarriedArena:
    """Hold the values that begin an arena, which is there from a stage on."""

    stage: int
    values: tuple[ir.Value, ...]

    def plan(self) -> RegionPlan:
        """Return the plan of the arena, in which all values are at the begin."""
        sizes = [tensor_of(value.type).size_bytes for value in self.values]
        regions = tuple(Region(ceildiv(size, ALIGNMENT) * ALIGNMENT, ()) for size in sizes)
        size_bytes = max(likely(region.size_bytes) for region in regions)
        return RegionPlan(dict.fromkeys(self.values, 0), size_bytes, size_bytes, regions)


def carried_arenas(
    numbering: Numbering,
    root: Callable[[ir.Value], ir.Value],
    found: Mapping[str, int],
    states: Collection[ir.Value] = (),
) -> list[CarriedArena]:
    """Return the arenas of what the loops of a program carry with sizes that change.

    `root` returns the value whose memory a value is a view of; `found` has the stages of symbols,
    `states` are results that are stored in the places of inputs. Raises CompileError for a kernel
    that updates anything else in place.
    """
    arenas: list[CarriedArena] = []
    for call in numbering.calls:
        if isinstance(call.op, tri.Loop):
            arenas += _of_loop(call.op, numbering, root, found)
    _check_updated(numbering.calls, arenas, states)
    return arenas


def _of_loop(
    op: tri.Loop,
    numbering: Numbering,
    root: Callable[[ir.Value], ir.Value],
    found: Mapping[str, int],
) -> Iterator[CarriedArena]:
    (block,) = op.bodies
    calls = [call for _, call in numbering.scopes[block].calls]
    computed = {value for call in calls for value in call.results}
    appended = {(each.operand, each.result) for call in calls for each in updates_in(call.op)}
    pairs = [(argument, root(end)) for argument, end in changing_ends(op)]
    ends = [end for _, end in pairs]
    for argument, end in pairs:
        stage, end_stage = _stage_of(argument, found), _stage_of(end, found)
        if (argument, end) in appended and stage == end_stage:
            yield CarriedArena(stage, (argument, end))
            continue
        yield CarriedArena(stage, (argument,))
        is_own = end in computed and memory_of(end) == PROCESS and ends.count(end) == 1
        if is_own and end_stage >= stage:
            yield CarriedArena(end_stage, (end,))


def _check_updated(
    calls: Sequence[Call], arenas: Sequence[CarriedArena], states: Collection[ir.Value]
) -> None:
    """Raise CompileError for a kernel that updates what is no state, or has no capacity."""
    planned = {arena.values for arena in arenas}
    for call in calls:
        for each in updates_in(call.op):
            if (each.operand, each.result) not in planned and each.result not in states:
                message = (
                    f"'{each.op.op_name}' op updates a value in place, which must be what a loop "
                    "carries, for its next iteration, or a state of the model"
                )
                raise CompileError([Diagnostic(describe(call.op.location), message)])


def _stage_of(value: ir.Value, found: Mapping[str, int]) -> int:
    return stage_of(tensor_of(value.type).size_bytes, found)
