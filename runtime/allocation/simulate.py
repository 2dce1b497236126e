"""Find what each memory strategy would do in a run, without memory and without a run."""

from ..contents import ARENA, PROCESS
from ..frozen import Frozen
from ..package import Package
from ..plans.buffers import BuffersAt
from ..sizes.values import Values
from .liveness import LiveValues, find_liveness
from .one_by_one import AllocatingRun, Allocations
from .sources import SimulatedMemory
from .strategies import STRATEGIES, Plain
from .strategy import MemoryUse


class StrategyUse(Frozen):
    """Hold what strategies do in one run, in the memory space `space`.

    `lower_bound_bytes` is the most that values take at a time, each in whole cache lines. What
    `stays_in_arena`, steps with bodies and their values, is in the static plan alone, of
    `static_bytes`.
    """

    space: str
    static_bytes: int
    lower_bound_bytes: int
    stays_in_arena: bool
    uses: tuple[MemoryUse, ...]


class _NoBases:
    def bind_address(self, base: int, address: int, size: int, space: str, /) -> None:
        pass

    def unbind(self, base: int) -> None:
        pass


def compare_strategies(package: Package) -> tuple[StrategyUse, ...]:
    """Return what strategies do in a run of a package, at the likely sizes of its symbols.

    There is one for each memory space, that of the process first. Raises RunError where memory
    cannot but be static.
    """
    from ..observe.calls import CallTable

    manifest = package.manifest
    values = manifest.likely_values
    live = find_liveness(manifest, CallTable(package))
    found = [simulate(live, values, name) for name in STRATEGIES]
    arenas = {PROCESS: (ARENA, manifest.memory.arena_bytes)}
    arenas |= {
        each.name: (manifest.bases_in(each.name)[0], each.arena_bytes) for each in manifest.spaces
    }
    made: list[StrategyUse] = []
    for space, (base, planned) in arenas.items():
        uses = tuple(use if space == PROCESS else use.spaces[space] for use in found)
        bound = next(use.peak_bytes for use in uses if use.strategy == Plain.name)
        static = values.arenas.get(base, planned)
        made.append(StrategyUse(space, static, bound, live.uses_arena, uses))
    return tuple(made)


def simulate(live: LiveValues, values: Values, name: str) -> MemoryUse:
    """Return what a strategy does in a first run at some sizes."""
    names = (PROCESS, *(space.name for space in live.manifest.spaces))
    strategies = {each: STRATEGIES[name](SimulatedMemory(each == PROCESS)) for each in names}
    sizes = live.sizes(BuffersAt(live.manifest, values), values)
    spaces = [value.space for value in live.values]
    liveness = [(unit.allocated, unit.freed) for unit in live.units]
    plan = Allocations(strategies, spaces, sizes, liveness)
    units = [(unit.allocated, _nothing, unit.freed) for unit in live.units]
    AllocatingRun(plan, _NoBases(), 0, units, ())()
    uses = {each: strategy.use for each, strategy in strategies.items()}
    return uses.pop(PROCESS)._replace(spaces=uses)


def _nothing() -> None:
    """Stand for a call."""
