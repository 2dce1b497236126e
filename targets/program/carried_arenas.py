"""Give arenas to what loops carry with sizes that change: it goes on without a copy.

The argument of a body has an arena of its own, and so has the value that the body computes for the
next iteration: a session exchanges the two.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.sizes.dim import ceildiv
from ...dialects.core.sizes.substitution import likely
from ...dialects.tri.control_flow import yielded
from ...runtime.contents import PROCESS
from ..memory.arena import ALIGNMENT
from ..memory.regions import Region, RegionPlan
from ..memory.values import memory_of
from .bodies import Numbering, changing_arguments, has_found_sizes
from .found_arenas import stage_of


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
    numbering: Numbering, root: Callable[[ir.Value], ir.Value], found: Mapping[str, int]
) -> list[CarriedArena]:
    """Return the arenas of what the loops of a program carry with sizes that change.

    `root` returns the value whose memory a value is a view of; `found` has the stages of symbols.
    """
    arenas: list[CarriedArena] = []
    for call in numbering.calls:
        if isinstance(call.op, tri.Loop):
            arenas += _of_loop(call.op, numbering, root, found)
    return arenas


def _of_loop(
    op: tri.Loop,
    numbering: Numbering,
    root: Callable[[ir.Value], ir.Value],
    found: Mapping[str, int],
) -> Iterator[CarriedArena]:
    (block,) = op.bodies
    computed = {value for _, call in numbering.scopes[block].calls for value in call.results}
    ends = [root(value) for value in _changing_ends(op)]
    for argument, end in zip(changing_arguments(op), ends, strict=True):
        stage = _stage_of(argument, found)
        yield CarriedArena(stage, (argument,))
        is_own = end in computed and memory_of(end) == PROCESS and ends.count(end) == 1
        if is_own and _stage_of(end, found) >= stage:
            yield CarriedArena(_stage_of(end, found), (end,))


def _changing_ends(op: tri.Loop) -> Iterator[ir.Value]:
    """Yield what a body returns for each of its `changing_arguments`."""
    made = list(yielded(op.bodies[0]))[op.condition is not None :]
    for end, result in zip(made, list(op.outputs)[: len(op.carried)], strict=False):
        if has_found_sizes(op, result):
            yield end


def _stage_of(value: ir.Value, found: Mapping[str, int]) -> int:
    return stage_of(tensor_of(value.type).size_bytes, found)
